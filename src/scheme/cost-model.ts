/** What a job costs under a scheme, as a formula in its shape (docs/performance.md). Seconds are CPU seconds. */
import type { SpeedParameters } from "../base/parameters/parameters.ts";
import type { GradientLayout } from "../codec/layout.ts";

/** What the formula needs to know of one passive party. */
export interface PassiveShape {
  readonly features: number;
  readonly candidates: number;
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

export interface Prediction {
  readonly activeCpuSeconds: number;
  readonly passiveCpuSeconds: readonly number[];
  readonly bytes: { readonly activeToPassive: number; readonly passiveToActive: number };
  /** What the scheme keeps, besides tables and the program itself. */
  readonly memoryBytes: { readonly active: number; readonly passives: readonly number[] };
}

export interface CostModel {
  predict(job: JobShape): Prediction;
}
