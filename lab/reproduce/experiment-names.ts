/** The experiments, in the order in which a report shows them, and the table that each runs on. */
import type { DatasetName } from "../trials/paper-datasets.ts";

export const experimentNames = ["keys", "samples", "rounds", "overflow", "precision", "ablation"] as const;
export type ExperimentName = (typeof experimentNames)[number];

export const datasetOf: Readonly<Record<ExperimentName, DatasetName>> = {
  keys: "default",
  samples: "giveme",
  rounds: "default",
  overflow: "default",
  precision: "default",
  ablation: "default",
};
