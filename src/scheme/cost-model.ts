/** The cost of a job under a scheme, as a formula of its shape (docs/performance.md). Seconds are CPU seconds. */
import type { GradientLayout } from "../codec/layout.ts";

/** The facts about one passive party that the formula needs. */
export interface PassiveShape {
  readonly features: number;
  readonly candidates: number;
  /** Of all features together. */
  readonly bins: number;
  /** The maximum for a number of features, which the active party assumes before it knows the real number. */
  readonly candidatesMax: number;
  /** Over all features: instances outside the feature's most frequent bin. */
  readonly rootAdditions: number;
}

export interface JobShape {
  readonly rows: number;
  readonly trees: number;
  readonly depth: number;
  /** Nodes of one output that may be requested, including those of repeated rounds. */
  readonly nodesMax: number;
  /** Pairs of g and h of a round, whether its trees have one each or one tree has all of them. */
  readonly outputsPerRound: number;
  readonly layout: GradientLayout;
  readonly passives: readonly PassiveShape[];
}

/** Work and memory of one passive party's blocks, which workers take over where it has some. */
export interface BlockCosts {
  /** Over all rows and trees; the rest of the party's CPU time is spent in its own process. */
  readonly cpuSeconds: number;
  /** Held by the process that has the row. */
  readonly bytesPerRow: number;
  /** Over all trees: bytes sent to a block per row. */
  readonly toldBytesPerRow: number;
  /** Over all trees: bytes of one block's answers, independent of its number of rows. */
  readonly answerBytes: number;
  /** Of these, for one node. */
  readonly answerBytesOnce: number;
}

export interface Prediction {
  readonly activeCpuSeconds: number;
  readonly passiveCpuSeconds: readonly number[];
  readonly bytes: { readonly activeToPassive: number; readonly passiveToActive: number };
  /** Per passive party; left out: the scheme cannot use workers. */
  readonly blocks?: readonly BlockCosts[];
  /** Memory of the scheme, in addition to tables and the program itself. */
  readonly memoryBytes: { readonly active: number; readonly passives: readonly number[] };
}

export interface CostModel {
  predict(job: JobShape): Prediction;
}
