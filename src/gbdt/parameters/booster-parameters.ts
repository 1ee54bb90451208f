/** How trees add up, and what dart drops between rounds. Names, meanings and defaults are XGBoost's. */
import { choice, type ParameterSpec } from "../../base/parameters/parameter-spec.ts";

export const boosterParameters = {
  booster: {
    ...choice(["gbtree", "dart"], "gbtree", "gbtree, or dart: dropout of trees between rounds"),
    refused: { gblinear: "it has no trees, and only trees can be trained between parties. Use gbtree" },
  },
  rate_drop: { kind: "number", default: 0, min: 0, max: 1, help: "dart: fraction of trees dropped in a round" },
  skip_drop: { kind: "number", default: 0, min: 0, max: 1, help: "dart: probability that a round drops no tree" },
  one_drop: {
    kind: "switch",
    default: false,
    bits: true,
    help: "dart: drop at least one tree in every round that is not skipped",
  },
  sample_type: choice(
    ["uniform", "weighted"],
    "uniform",
    "dart: drop trees uniformly, or in proportion to their weight",
  ),
  normalize_type: choice(
    ["tree", "forest"],
    "tree",
    "dart: weight of a new tree: that of each dropped tree, or of all dropped trees together",
  ),
} as const satisfies Record<string, ParameterSpec>;
