/** A model's objective and start as XGBoost writes them. Parameters that only training needs have their defaults. */
import { unreachable } from "../../base/assert.ts";
import type { Model } from "../../gbdt/tree/model.ts";
import { type ObjectiveName, sigmoid } from "../../gbdt/objective/objective.ts";

export type XgboostObjective = { readonly name: ObjectiveName } & Readonly<
  Record<string, string | Readonly<Record<string, string>>>
>;

export function xgboostObjective({ objective, outputCount = 1, quantiles = [] }: Model): XgboostObjective {
  switch (objective) {
    case "binary:logistic":
    case "binary:logitraw":
    case "reg:logistic":
    case "reg:squarederror":
    case "reg:gamma": // 1.7 ignores the parameter there, later versions want it
      return { name: objective, reg_loss_param: { scale_pos_weight: "1" } };
    case "reg:pseudohubererror":
      return { name: objective, pseudo_huber_param: { huber_slope: "1" } };
    case "binary:hinge":
    case "reg:absoluteerror":
    case "survival:cox":
      return { name: objective };
    case "survival:aft": {
      const spread = { aft_loss_distribution: "normal", aft_loss_distribution_scale: "1" };
      return { name: objective, aft_loss_param: spread };
    }
    case "reg:quantileerror":
      return { name: objective, quantile_loss_param: { quantile_alpha: `[${quantiles.join(",")}]` } };
    case "rank:pairwise":
    case "rank:ndcg":
      return { name: objective, lambdarank_param: { lambdarank_pair_method: "topk" }, lambda_rank_param: {} };
    case "reg:tweedie":
      return { name: objective, tweedie_regression_param: { tweedie_variance_power: "1.5" } };
    case "count:poisson":
      return { name: objective, poisson_regression_param: { max_delta_step: "0.699999988" } };
    case "multi:softprob":
    case "multi:softmax":
      return { name: objective, softmax_multiclass_param: { num_class: String(outputCount) } };
    default:
      return unreachable(objective);
  }
}

/** Where boosting starts: XGBoost's base_score, and what float32 could not hold of our margin. */
export interface Start {
  readonly baseScore: number;
  readonly rest: number;
}

/** A margin this much off moves a probability by 2.5e-7 at most. */
const marginTolerance = 1e-6;

/**
 * XGBoost takes base_score as a prediction. Of a probability near 1 float32 keeps few digits: for 0.9999 the margin
 * would be 1e-3 off. Such a rest, and what lies beyond the representable, goes into the first tree's leaves.
 */
export function startOf(model: Model): Start {
  const start = startFrom(model);
  // Whoever predicts with base margins gives them to XGBoost too, which then ignores base_score.
  return model.takesBaseMargin === true ? { ...start, rest: 0 } : start;
}

function startFrom({ objective, baseMargin }: Model): Start {
  switch (objective) {
    case "binary:logitraw":
    case "binary:hinge":
    case "reg:squarederror":
    case "reg:pseudohubererror":
    case "reg:absoluteerror":
    case "reg:quantileerror":
    case "rank:pairwise":
    case "rank:ndcg":
    case "multi:softprob":
    case "multi:softmax":
      return { baseScore: Math.fround(baseMargin), rest: 0 };
    case "binary:logistic":
    case "reg:logistic": {
      const baseScore = Math.min(Math.max(Math.fround(sigmoid(baseMargin)), 2 ** -100), 1 - 2 ** -24);
      const odds = Math.fround(Math.fround(1 / baseScore) - 1); // XGBoost's ProbToMargin, all in float32
      return { baseScore, rest: restOf(baseMargin + Math.fround(Math.log(odds))) };
    }
    case "reg:gamma":
    case "reg:tweedie":
    case "survival:cox":
    case "survival:aft":
    case "count:poisson": {
      const baseScore = Math.min(Math.max(Math.fround(Math.exp(baseMargin)), 2 ** -100), 2 ** 100);
      return { baseScore, rest: restOf(baseMargin - Math.fround(Math.log(baseScore))) };
    }
    default:
      return unreachable(objective);
  }
}

function restOf(rest: number): number {
  return Math.abs(rest) > marginTolerance ? rest : 0;
}
