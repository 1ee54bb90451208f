/**
 * The training parameters that objectives and metrics may use: all but the names of objectives and metrics, which are
 * derived from their declarations. Parameters of some objectives only are declared with these. Names, meanings and
 * defaults are XGBoost's where XGBoost has the parameter.
 */
import { choice, type ParameterSpec, type ValuesOf } from "../../base/parameters/parameter-spec.ts";
import { aftParameters } from "../objective/aft-objective.ts";
import { logLinkParameters } from "../objective/log-link-objectives.ts";
import { logisticParameters } from "../objective/logistic-objectives.ts";
import { quantileParameters } from "../objective/quantile-objectives.ts";
import { rankParameters } from "../objective/rank-objectives.ts";
import { regressionParameters } from "../objective/regression-objectives.ts";
import { softmaxParameters } from "../objective/softmax-objectives.ts";
import { boosterParameters } from "./booster-parameters.ts";

export const learningParameters = {
  ...boosterParameters,
  ...softmaxParameters,
  num_round: {
    kind: "integer",
    default: 50,
    min: 1,
    max: 100_000,
    aliases: ["n_estimators"],
    help: "rounds of boosting: trees, or with several classes trees per class",
  },
  num_parallel_tree: {
    kind: "integer",
    default: 1,
    min: 1,
    max: 1000,
    help: "trees per round, each on a separate sample: above 1 a boosted random forest",
  },
  max_depth: {
    kind: "integer",
    default: 3,
    min: 0,
    max: 16,
    help: "maximum depth of a tree; 0: limited by max_leaves only",
  },
  max_leaves: {
    kind: "integer",
    default: 0,
    min: 0,
    max: 65536,
    help: "maximum number of leaves of a tree; 0: no limit",
  },
  grow_policy: choice(
    ["depthwise", "lossguide"],
    "depthwise",
    "split level by level, or always the node with the highest gain",
  ),
  eta: {
    kind: "number",
    default: 0.3,
    min: 0,
    max: 1,
    minExclusive: true,
    aliases: ["learning_rate"],
    help: "learning rate: shrinks every leaf",
  },
  lambda: { kind: "number", default: 1, min: 0, aliases: ["reg_lambda"], help: "L2 regularisation of leaf weights" },
  alpha: { kind: "number", default: 0, min: 0, aliases: ["reg_alpha"], help: "L1 regularisation of leaf weights" },
  gamma: {
    kind: "number",
    default: 0,
    min: 0,
    aliases: ["min_split_loss"],
    help: "smallest gain that splits a node, as in XGBoost",
  },
  min_child_weight: { kind: "number", default: 1, min: 0, help: "smallest sum of hessians on each side of a split" },
  max_delta_step: {
    kind: "number",
    default: 0,
    min: 0,
    help: "largest leaf weight before shrinking; 0: no limit",
  },
  ...logisticParameters,
  sampling_method: choice(
    ["uniform", "goss"],
    "uniform",
    "how the instances of a tree are sampled: uniformly, or those with large gradients and some others",
  ),
  subsample: {
    kind: "number",
    default: 1,
    min: 0,
    max: 1,
    minExclusive: true,
    help: "sampling_method uniform: fraction of the instances that a tree is trained on",
  },
  top_rate: {
    kind: "number",
    default: 0.2,
    min: 0,
    max: 1,
    minExclusive: true,
    help: "sampling_method goss: fraction of instances with the largest gradients",
  },
  other_rate: {
    kind: "number",
    default: 0.1,
    min: 0,
    max: 1,
    minExclusive: true,
    help: "sampling_method goss: fraction of instances sampled from the others",
  },
  colsample_bytree: {
    kind: "number",
    default: 1,
    min: 0,
    max: 1,
    minExclusive: true,
    help: "fraction of each party's features that a tree may use",
  },
  colsample_bylevel: {
    kind: "number",
    default: 1,
    min: 0,
    max: 1,
    minExclusive: true,
    help: "fraction of a tree's features that a level may use",
  },
  colsample_bynode: {
    kind: "number",
    default: 1,
    min: 0,
    max: 1,
    minExclusive: true,
    help: "fraction of a level's features that a node may use",
  },
  ...regressionParameters,
  ...quantileParameters,
  ...logLinkParameters,
  ...aftParameters,
  ...rankParameters,
  max_bin: { kind: "integer", default: 32, min: 2, max: 1024, help: "quantile bins per feature" },
  bin_cuts: {
    kind: "choice",
    choices: ["exact", "xgboost"],
    default: "exact",
    help:
      "how features of many values are cut: at exact quantiles, or where XGBoost's sketch cuts the same rows in the " +
      "same order; with its order of ties, and categories in the order of their texts",
  },
  enable_categorical: {
    kind: "switch",
    default: false,
    help: "treat text columns as categorical, and the numeric columns named in 'categorical'",
  },
  max_cat_to_onehot: {
    kind: "integer",
    default: 4,
    min: 1,
    max: 4096,
    help: "with fewer categories than this, splits are one-hot; with more, categories are split into two sets",
  },
  max_cat_threshold: {
    kind: "integer",
    default: 64,
    min: 1,
    max: 4096,
    help: "category sets: the largest number of categories considered on one side of a split",
  },
  min_category_people: {
    kind: "number",
    default: 5,
    min: 0,
    help: "people per category, on average, that category sets of a passive party need: fewer would reveal labels",
  },
  base_score: {
    kind: "number",
    default: 0.5,
    words: ["auto"],
    help: "prediction before the first tree; auto: one Newton step from a margin of 0, or the quantile of the labels",
  },
  local_rounds: {
    kind: "integer",
    default: 0,
    min: 0,
    max: 100_000,
    help: "first rounds that use only the active party's features; nothing about them is sent to passive parties",
  },
} as const satisfies Record<string, ParameterSpec>;

export type LearningParameters = ValuesOf<typeof learningParameters>;
