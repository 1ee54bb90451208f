/**
 * What a reader of an evaluation chooses: where to cut scores, what wrong decisions cost, and the scale of a scorecard.
 *
 * Runs in browsers too.
 */
import type { Costs } from "../../gbdt/evaluation/cut-offs.ts";
import { type ScorecardScale, usualScale } from "../../gbdt/evaluation/scorecard.ts";

export interface EvaluationTerms {
  readonly costs: Costs;
  /** Parts of all rows that are taken for the second class, from 0 to 1. */
  readonly rates: readonly number[];
  /** Besides the objective's own. */
  readonly thresholds: readonly number[];
  readonly scale: ScorecardScale;
}

export const usualTerms: EvaluationTerms = {
  costs: { miss: 5, falseAlarm: 1 },
  rates: [0.05, 0.1, 0.2],
  thresholds: [],
  scale: usualScale,
};
