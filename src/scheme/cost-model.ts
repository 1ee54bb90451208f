/** What a job costs under a scheme, as a formula in its shape (docs/performance.md). Seconds are CPU seconds. */
import type { SpeedParameters } from "../base/parameters/parameters.ts";
import type { GradientLayout } from "../codec/layout.ts";

/** What the formula needs to know of one passive party. */
export interface PassiveShape {
  readonly features: number;
  readonly candidates: number;
  /** Of all features together. */
  readonly bins: number;
  /** That so many features can have, as the active party counts them before it is told. */
  readonly candidatesMax: number;
  /** Over all features: instances outside the feature's most frequent bin (or all, without skipping). */
  readonly rootAdditions: number;
}

export interface JobShape {
  readonly rows: number;
  readonly trees: number;
  readonly depth: number;
  /** Nodes of one output that may be asked for, those that are redone among them. */
  readonly nodesMax: number;
  /** Pairs of g and h of a round, whether its trees have one each or one tree has all of them. */
  readonly outputsPerRound: number;
  readonly layout: GradientLayout;
  /** Which shortcuts are taken; skipped bins show in rootAdditions. */
  readonly speed: SpeedParameters;
  readonly passives: readonly PassiveShape[];
}

/** What one passive party's blocks do and keep: what its workers take over, where it has some. */
export interface BlockCosts {
  /** Over all rows and trees; the rest of the party's CPU stays in its own process. */
  readonly cpuSeconds: number;
  /** Kept by whoever holds the row. */
  readonly bytesPerRow: number;
  /** Over all trees: what a block is told of a row. */
  readonly toldBytesPerRow: number;
  /** Over all trees: what one block answers, however many rows it has. */
  readonly answerBytes: number;
  /** Of that, for one node. */
  readonly answerBytesOnce: number;
}

export interface Prediction {
  readonly activeCpuSeconds: number;
  readonly passiveCpuSeconds: readonly number[];
  readonly bytes: { readonly activeToPassive: number; readonly passiveToActive: number };
  /** Per passive party; left out: the scheme has no work for workers. */
  readonly blocks?: readonly BlockCosts[];
  /** What the scheme keeps, besides tables and the program itself. */
  readonly memoryBytes: { readonly active: number; readonly passives: readonly number[] };
}

export interface CostModel {
  predict(job: JobShape): Prediction;
}
