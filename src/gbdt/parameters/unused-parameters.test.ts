import { expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { unusedParameters } from "./unused-parameters.ts";
import { resolveParameters } from "../../base/parameters/parameters.ts";
import { trainingParameters } from "./training-parameters.ts";

const unused = (given: Record<string, unknown>) => unusedParameters(resolveParameters(trainingParameters, given));

test("parameters of the objective, or with their default, are not reported", () => {
  expect(unused({})).toEqual([]);
  expect(unused({ scale_pos_weight: 3 })).toEqual([]);
  expect(unused({ objective: "multi:softprob", num_class: 3, multi_strategy: "multi_output_tree" })).toEqual([]);
  expect(unused({ objective: "reg:pseudohubererror", huber_slope: 2 })).toEqual([]);
  expect(unused({ objective: "reg:squarederror", scale_pos_weight: 1, huber_slope: 1, num_class: 0 })).toEqual([]);
  expect(unused({ sampling_method: "goss", top_rate: 0.3 })).toEqual([]);
  expect(unused({ objective: "reg:quantileerror", quantile_alpha: [0.1, 0.9] })).toEqual([]);
  expect(unused({ objective: "rank:pairwise", lambdarank_num_pair_per_sample: 8 })).toEqual([]);
  expect(unused({ booster: "dart", rate_drop: 0.1, one_drop: 1, sample_type: "weighted" })).toEqual([]);
  expect(unused({ enable_categorical: true, max_cat_to_onehot: 9, max_cat_threshold: 3 })).toEqual([]);
  // A metric uses it as well.
  expect(unused({ objective: "reg:gamma", eval_metric: ["tweedie-nloglik"], tweedie_variance_power: 1.2 })).toEqual([]);
});

test.each([
  [{ huber_slope: 2 }, /huber_slope is not used with binary:logistic: it belongs to reg:pseudohubererror/],
  [{ objective: "multi:softprob", num_class: 3, scale_pos_weight: 2 }, /scale_pos_weight is not used with multi:/],
  [{ objective: "count:poisson", scale_pos_weight: 2 }, /scale_pos_weight is not used with count:poisson/],
  [{ multi_strategy: "multi_output_tree" }, /multi_strategy is not used with binary:logistic/],
  [{ top_rate: 0.3 }, /top_rate is not used .* goss/],
  [{ quantile_alpha: [0.1, 0.9] }, /quantile_alpha is not used .* reg:quantileerror/],
  [{ objective: "survival:cox", aft_loss_distribution: "extreme" }, /aft_loss_distribution is not used .*:aft/],
  [{ objective: "rank:pairwise", ndcg_exp_gain: false }, /ndcg_exp_gain is not used .* rank:ndcg/],
  [{ rate_drop: 0.1 }, /rate_drop is not used with booster gbtree: it belongs to booster dart/],
  [{ one_drop: true }, /one_drop is not used .* belongs to booster dart/],
  [{ max_cat_to_onehot: 9 }, /max_cat_to_onehot is not used with enable_categorical false: .* enable_categorical true/],
  [{ max_cat_threshold: 9 }, /max_cat_threshold is not used with enable_categorical false/],
  [{ normalize_type: "forest" }, /normalize_type is not used .* belongs to booster dart/],
  [{ objective: "binary:hinge", scale_pos_weight: 2 }, /scale_pos_weight is not used with binary:hinge/],
])("%o is reported, as by XGBoost", (given, words) => {
  expect(unused(given)).toEqual([expect.stringMatching(words)]);
});

test.each([
  [{ num_class: 2 }, /num_class does not fit binary:logistic.*multi:softprob/],
  [{ objective: "reg:squarederror", num_class: 3 }, /num_class does not fit reg:squarederror/],
  [{ objective: "reg:squarederror", scale_pos_weight: 2 }, /scale_pos_weight does not fit.*weights instead/],
])("%o is rejected: XGBoost would fail, or train a different model", async (given, words) => {
  await expectError(() => unused(given), "USAGE", words);
});
