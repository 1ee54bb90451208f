/** Jobs that each take many features of the trainer at once: whatever computes them must train the same model. */
import type { TrainingParameters } from "../../src/gbdt/parameters/training-parameters.ts";
import { categoricalTable } from "./categorical-tables.ts";
import { randomTable } from "./tables.ts";
import { type TestTable } from "../world/simulated.ts";

const table: TestTable = {
  ...randomTable("everything", { rows: 60, features: [2, 2, 2], missingFraction: 0.1 }),
  monotone: [
    [1, 0],
    [-1, 0],
    [0, 1],
  ],
};
const classes: TestTable = {
  ...randomTable("classes", { rows: 60, features: [1, 2, 2], missingFraction: 0.1 }),
  labels: Float64Array.from({ length: 60 }, (_, i) => i % 3),
};
const sampled: Partial<TrainingParameters> = {
  sampling_method: "goss",
  top_rate: 0.4,
  other_rate: 0.3,
  colsample_bylevel: 0.8,
  alpha: 0.1,
  scale_pos_weight: 2,
  num_round: 2,
};
/** A name, a table, and parameters. */
export const manyFeatures: readonly (readonly [string, TestTable, Partial<TrainingParameters>])[] = [
  ["sampled, with constraints", table, sampled],
  [
    "leaf by leaf, the first round alone",
    table,
    { grow_policy: "lossguide", max_leaves: 6, local_rounds: 1, subsample: 0.8, max_delta_step: 0.5 },
  ],
  ["a tree per class", classes, { objective: "multi:softprob", num_class: 3, num_round: 2, colsample_bytree: 0.8 }],
  [
    "categories, as deep as leaves allow",
    categoricalTable(1, { rows: 80, features: [1, 1, 1], categories: [[6], [3, 9], [2]], missingFraction: 0.1 }),
    { enable_categorical: true, max_depth: 0, max_leaves: 6, num_round: 2 },
  ],
  [
    "trees of several outputs",
    classes,
    { objective: "multi:softprob", num_class: 3, num_round: 2, multi_strategy: "multi_output_tree" },
  ],
];
