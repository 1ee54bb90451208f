/** A model's objective and base_score in XGBoost's format. */
import type { XgboostStart } from "../../gbdt/objective/link.ts";
import { type ObjectiveName, objectiveFor } from "../../gbdt/objective/objectives.ts";
import type { Model } from "../../gbdt/tree/model.ts";
import { requireXgboostForm } from "../../gbdt/tree/xgboost-agreement.ts";

export type XgboostObjective = { readonly name: ObjectiveName } & Readonly<
  Record<string, string | Readonly<Record<string, string>>>
>;

/** @throws TandemError USAGE if XGBoost has no such objective */
export function xgboostObjective({ objective: name, outputCount = 1, quantiles = [] }: Model): XgboostObjective {
  return { name, ...requireXgboostForm(objectiveFor(name)).parameters({ outputCount, quantiles }) };
}

/**
 * XGBoost's base_score is a prediction. Near a probability of 1 float32 has few digits: for 0.9999 the margin would be
 * 1e-3 off. Such a remainder, and what is beyond the representable range, is added to the first tree's leaves.
 */
export function toXgboostStart({ objective, baseMargin, takesBaseMargin }: Model): XgboostStart {
  const start = objectiveFor(objective).link.xgboostStart(baseMargin);
  // Predictions with base margins need them in XGBoost too, which then ignores base_score.
  return takesBaseMargin === true ? { ...start, rest: 0 } : start;
}
