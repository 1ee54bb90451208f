/**
 * Parameters that mean something only beside others: an objective, or a way of sampling. XGBoost says of those that it
 * has no use for that they are not used. So do we, and refuse those that would make another model there.
 */
import { TandemError } from "../../base/error.ts";
import { type TrainingParameters, trainingParameters } from "./training-parameters.ts";

interface Applicability {
  readonly name: keyof TrainingParameters;
  readonly isUsed: (training: TrainingParameters) => boolean;
  /** What it belongs to. */
  readonly belongsTo: string;
  /** The parameter that decides whether it is used; left out: the objective. */
  readonly beside?: keyof TrainingParameters;
  /** Why it is refused, and what to do; left out or null: people are told that it is not used. */
  readonly refusal?: (training: TrainingParameters) => string | null;
}

const isMulti = ({ objective }: TrainingParameters): boolean => objective.startsWith("multi:");

/** A parameter of one objective, or of objectives whose names begin alike; a metric may use it too. */
function ofObjective(name: keyof TrainingParameters, objective: string, metric?: string): Applicability {
  const prefix = objective.replace("*", "");
  return {
    name,
    isUsed: ({ objective: own, eval_metric: metrics }) =>
      own.startsWith(prefix) || (metric !== undefined && metrics.some((asked) => asked.startsWith(metric))),
    belongsTo: objective,
  };
}

const table: readonly Applicability[] = [
  {
    name: "num_class",
    isUsed: isMulti,
    belongsTo: "objectives of several classes",
    refusal: () => "Leave it out, or train multi:softprob",
  },
  { name: "multi_strategy", isUsed: isMulti, belongsTo: "objectives of several classes" },
  ofObjective("huber_slope", "reg:pseudohubererror", "mphe"),
  ofObjective("quantile_alpha", "reg:quantileerror"),
  ofObjective("tweedie_variance_power", "reg:tweedie", "tweedie-nloglik"),
  ofObjective("aft_loss_distribution", "survival:aft"),
  ofObjective("aft_loss_distribution_scale", "survival:aft"),
  ofObjective("lambdarank_num_pair_per_sample", "rank:*"),
  ofObjective("lambdarank_normalization", "rank:*"),
  ofObjective("ndcg_exp_gain", "rank:ndcg"),
  {
    name: "scale_pos_weight",
    isUsed: ({ objective }) => /^(binary:log|reg:logistic)/.test(objective),
    belongsTo: "binary:logistic, binary:logitraw and reg:logistic",
    // XGBoost would weigh the rows whose label happens to be 1.
    refusal: ({ objective }) => (objective === "reg:squarederror" ? "Give the rows weights instead" : null),
  },
  ...(["top_rate", "other_rate"] as const).map((name) => ({
    name,
    isUsed: ({ sampling_method: method }: TrainingParameters) => method === "goss",
    belongsTo: "sampling_method goss",
  })),
  ...(["rate_drop", "skip_drop", "one_drop", "sample_type", "normalize_type"] as const).map((name) => ({
    name,
    isUsed: ({ booster }: TrainingParameters) => booster === "dart",
    belongsTo: "booster dart",
    beside: "booster" as const,
  })),
];

/** What was given and is not used, in words. @throws TandemError USAGE for what is refused */
export function unusedParameters(training: TrainingParameters): readonly string[] {
  const { objective } = training;
  return table.flatMap(({ name, isUsed, belongsTo, beside, refusal }) => {
    if (String(training[name]) === String(trainingParameters[name].default) || isUsed(training)) return [];
    const advice = refusal?.(training) ?? null;
    const given = beside === undefined ? objective : `${beside} ${String(training[beside])}`;
    if (advice === null) return [`parameter ${name} is not used with ${given}: it belongs to ${belongsTo}`];
    throw new TandemError(
      "USAGE",
      `parameter ${name} does not fit ${objective}: it belongs to ${belongsTo}. ${advice}`,
    );
  });
}
