/**
 * Link functions: how margins become predictions, and base_score, which is a prediction, a margin. Exported models
 * carry base_score as a float32, and XGBoost computes its margin in float32 (src/objective/regression_loss.h).
 */

/** The base_score of an exported model, and the part of our margin that float32 cannot represent. */
export interface XgboostStart {
  readonly baseScore: number;
  readonly rest: number;
}

export interface Link {
  prediction(margin: number): number;
  /** Whether this base_score has a margin. */
  takes(baseScore: number): boolean;
  /** The condition that base_score must satisfy. */
  readonly demand: string;
  margin(baseScore: number): number;
  xgboostStart(baseMargin: number): XgboostStart;
}

/** A margin this much off moves a probability by 2.5e-7 at most. */
const marginTolerance = 1e-6;

export const identity: Link = {
  prediction: (margin) => margin,
  takes: Number.isFinite,
  demand: "be a finite number",
  margin: (baseScore) => baseScore,
  xgboostStart: (baseMargin) => ({ baseScore: Math.fround(baseMargin), rest: 0 }),
};

export const logit: Link = {
  prediction: sigmoid,
  takes: (baseScore) => baseScore > 0 && baseScore < 1,
  demand: "lie between 0 and 1, exclusive",
  margin: (baseScore) => -Math.log(1 / baseScore - 1) + 0,
  xgboostStart(baseMargin) {
    const baseScore = Math.min(Math.max(Math.fround(sigmoid(baseMargin)), 2 ** -100), 1 - 2 ** -24);
    const odds = Math.fround(Math.fround(1 / baseScore) - 1); // XGBoost's ProbToMargin, all in float32
    return { baseScore, rest: restOf(baseMargin + Math.fround(Math.log(odds))) };
  },
};

export const log: Link = {
  prediction: Math.exp,
  takes: (baseScore) => baseScore > 0 && Number.isFinite(baseScore),
  demand: "be above 0",
  margin: Math.log,
  xgboostStart(baseMargin) {
    const baseScore = Math.min(Math.max(Math.fround(Math.exp(baseMargin)), 2 ** -100), 2 ** 100);
    return { baseScore, rest: restOf(baseMargin - Math.fround(Math.log(baseScore))) };
  },
};

function restOf(rest: number): number {
  return Math.abs(rest) > marginTolerance ? rest : 0;
}

/** The logistic function; exact limits 0 and 1 far out, never NaN. */
export function sigmoid(margin: number): number {
  return 1 / (1 + Math.exp(-margin));
}
