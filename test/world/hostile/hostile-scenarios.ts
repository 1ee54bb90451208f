/** What the jobs are: small, and one of every kind in which other messages, or other fields of them, travel. */
import type { ActiveConfigInput } from "../../../src/party/config/config.ts";
import type { Task } from "./hostile-tasks.ts";

export interface Scenario {
  readonly name: string;
  /** Left out: it trains. */
  readonly task?: Task;
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
  { name: "curve", scheme: "curve" },
  { name: "curve, noise", scheme: "curve", privacy: { answer_noise: 0.5 } },
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
  { name: "cross-validation", task: "cv", training: { num_round: 2 } },
  { name: "cross-validation, hidden members", task: "cv", scheme: "lattice", training: { num_round: 1 } },
  { name: "tuning", task: "tune", training: { num_round: 3 } },
  { name: "tuning, hidden members", task: "tune", scheme: "lattice", training: { num_round: 3 } },
  { name: "scores", task: "predict" },
  { name: "contributions", task: "contributions" },
  { name: "masked scores", task: "predict", privacy: { masked_scoring: true } },
  { name: "served", task: "serve" },
  { name: "masked scores, served", task: "serve", privacy: { masked_scoring: true } },
];

/** What reaches a passive party in other messages: `serve` sends it what `predict` sends. */
export const direct = scenarios.filter(({ task }) => task !== "serve");

/** Training, as opposed to questions about a model. */
export const trainings = scenarios.filter(({ task = "train" }) => task === "train");

/** Training that two processes repeat: a command draws the secret from which it samples columns. */
export const repeatable = trainings.filter(({ training }) => training?.colsample_bynode === undefined);
