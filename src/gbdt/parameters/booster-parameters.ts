/** How trees add up, and what dart drops between rounds. Names, meanings and defaults are XGBoost's. */
import { choice, type ParameterSpec } from "../../base/parameters/parameter-spec.ts";

export const boosterParameters = {
  booster: {
    ...choice(["gbtree", "dart"], "gbtree", "how trees add up: each as it is, or with drops between rounds (dart)"),
    refused: { gblinear: "it has no trees, and the parties train trees together. Take gbtree" },
  },
  rate_drop: { kind: "number", default: 0, min: 0, max: 1, help: "dart: share of the trees that a round drops" },
  skip_drop: { kind: "number", default: 0, min: 0, max: 1, help: "dart: share of the rounds that drop nothing" },
  one_drop: {
    kind: "switch",
    default: false,
    bits: true,
    help: "dart: drop at least one tree in a round that may drop",
  },
  sample_type: choice(
    ["uniform", "weighted"],
    "uniform",
    "dart: drop every tree alike, or those more often that weigh more",
  ),
  normalize_type: choice(
    ["tree", "forest"],
    "tree",
    "dart: what a new tree weighs: as much as each that was dropped, or as all of them together",
  ),
} as const satisfies Record<string, ParameterSpec>;
