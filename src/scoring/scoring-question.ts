/** What a scorer is asked and answers, and the seam between it and the two ways of asking passive parties. */
import type { TandemError } from "../base/error.ts";
import type { Outputs } from "./outputs.ts";
import type { Wanted } from "./wanted.ts";

/** Instances to score, with their values of the active party's own features. */
export interface ScoringRows {
  readonly ids: readonly string[];
  /**
   * In the order of Scorer.features. Categorical features have codes into Scorer.categoryNames; a category that is not
   * listed there has a code beyond the end.
   */
  readonly columns: readonly Float32Array[];
}

export interface Scores {
  /**
   * Per row, in its order, the outputs asked for, side by side. NaN where a party does not hold the id, unless unknown
   * ids count as missing.
   */
  readonly predictions: Float64Array;
  /** Rows whose id is unknown to a party, and the names of those parties. */
  readonly unknown: ReadonlyMap<number, readonly string[]>;
}

export interface ScoringOptions {
  /** Score ids that a party does not hold as if all their values there were missing, instead of not at all. */
  readonly unknownAsMissing: boolean;
  readonly timeoutMs: number;
  /** Default: predictions. */
  readonly wanted?: Wanted;
  /** Send each party that accepts them the contributions of its own features, where all rounds are explained. */
  readonly sendsContributions?: boolean;
}

/** Called after each question to a party, for metrics. */
export type OnQuestion = (question: {
  readonly party: string;
  readonly idCount: number;
  readonly ms: number;
  readonly error: TandemError | null;
}) => void;

export interface PartyReadiness {
  readonly party: string;
  /** Null if it can score with this model. */
  readonly trouble: TandemError | null;
}

/** The values of rows, per row side by side. */
export interface RowValues {
  readonly values: Float64Array;
  /** Per party that is asked: the rows whose id it does not hold. */
  readonly unknown: readonly (readonly number[])[];
}

/** How the passive parties of a model are asked: for the outcomes of their splits, or for masked sums. */
export interface ScoringProtocol {
  /** Parties that take the contributions of their own features; left out: none. */
  readonly takers?: readonly string[];
  /** Asks each party, once and without ids, whether it can score. */
  ready(timeoutMs: number): Promise<PartyReadiness[]>;
  /** @throws TandemError of the party that cannot answer */
  score(rows: ScoringRows, outputs: Outputs, options: ScoringOptions): Promise<RowValues>;
}
