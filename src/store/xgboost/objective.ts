/** A model's objective and start as XGBoost writes them. */
import type { XgboostStart } from "../../gbdt/objective/link.ts";
import { type ObjectiveName, objectiveFor } from "../../gbdt/objective/objectives.ts";
import type { Model } from "../../gbdt/tree/model.ts";
import { xgboostFormOf } from "../../gbdt/tree/xgboost-agreement.ts";

export type XgboostObjective = { readonly name: ObjectiveName } & Readonly<
  Record<string, string | Readonly<Record<string, string>>>
>;

/** @throws TandemError USAGE if XGBoost has no such objective */
export function xgboostObjective({ objective: name, outputCount = 1, quantiles = [] }: Model): XgboostObjective {
  return { name, ...xgboostFormOf(objectiveFor(name)).parameters({ outputCount, quantiles }) };
}

/**
 * XGBoost takes base_score as a prediction. Of a probability near 1 float32 keeps few digits: for 0.9999 the margin
 * would be 1e-3 off. Such a rest, and what lies beyond the representable, goes into the first tree's leaves.
 */
export function startOf({ objective, baseMargin, takesBaseMargin }: Model): XgboostStart {
  const start = objectiveFor(objective).link.xgboostStart(baseMargin);
  // Predictions with base margins need them in XGBoost too, which then ignores base_score.
  return takesBaseMargin === true ? { ...start, rest: 0 } : start;
}
