/** What the jobs are: small, and one of every kind in which other messages, or other fields of them, travel. */
import type { ActiveConfigInput } from "../../../src/party/config/config.ts";

export interface Scenario {
  readonly name: string;
  readonly align?: boolean;
  readonly training?: ActiveConfigInput["training"];
  readonly privacy?: ActiveConfigInput["privacy"];
  readonly scheme?: ActiveConfigInput["scheme"];
  readonly data?: Partial<ActiveConfigInput["data"]>;
}

const classes = { label: "grade", positive: undefined };

export const scenarios: readonly Scenario[] = [
  { name: "plain" },
  { name: "aligned", align: true },
  { name: "masked scoring", privacy: { masked_scoring: true } },
  { name: "noise", privacy: { answer_noise: 0.5 } },
  {
    name: "several classes",
    data: classes,
    training: { objective: "multi:softprob", num_class: 3, num_round: 1 },
  },
  {
    name: "sampled",
    training: {
      sampling_method: "goss",
      top_rate: 0.3,
      other_rate: 0.4,
      colsample_bytree: 0.8,
      colsample_bynode: 0.8,
    },
  },
  { name: "validated", data: { validation_fraction: 0.3 }, training: { early_stopping_rounds: 1 } },
  { name: "hidden members", scheme: "lattice" },
  {
    name: "hidden members, several classes",
    scheme: "lattice",
    data: classes,
    training: {
      objective: "multi:softprob",
      num_class: 3,
      num_round: 1,
      multi_strategy: "multi_output_tree",
      colsample_bynode: 0.8,
    },
  },
  { name: "few thresholds", privacy: { max_thresholds: 3, min_people_share: 0.1 } },
];
