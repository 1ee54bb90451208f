/**
 * Parameters that apply only together with others: an objective, a sampling method, or a booster. XGBoost warns that
 * other parameters are not used. We do so too, and reject those that would change the model in XGBoost.
 */
import { TandemError } from "../../base/error.ts";
import { metricFor } from "../metric/metrics.ts";
import type { Objective } from "../objective/objective.ts";
import { namesOf, objectiveFor, objectives } from "../objective/objectives.ts";
import { type LearningParameters, learningParameters } from "./learning-parameters.ts";
import type { TrainingParameters } from "./training-parameters.ts";

/** A parameter that applies only with one value of another. */
interface Dependence {
  readonly names: readonly (keyof LearningParameters)[];
  readonly beside: "sampling_method" | "booster" | "enable_categorical";
  readonly value: string | boolean;
}

const dependences: readonly Dependence[] = [
  { names: ["top_rate", "other_rate"], beside: "sampling_method", value: "goss" },
  {
    names: ["rate_drop", "skip_drop", "one_drop", "sample_type", "normalize_type"],
    beside: "booster",
    value: "dart",
  },
  { names: ["max_cat_to_onehot", "max_cat_threshold"], beside: "enable_categorical", value: true },
];

const names = Object.keys(learningParameters) as (keyof LearningParameters)[];

/** Messages about given parameters that are not used. @throws TandemError USAGE for those that are rejected */
export function unusedParameters(training: TrainingParameters): readonly string[] {
  const isGiven = (name: keyof LearningParameters): boolean =>
    String(training[name]) !== String(learningParameters[name].default);
  const ofOthers = names.filter(isGiven).flatMap((name) => ofOtherObjectives(name, training));
  const ofOtherModes = dependences
    .filter(({ beside, value }) => training[beside] !== value)
    .flatMap(({ names: depending, beside, value }) =>
      depending.filter(isGiven).map((name) => notUsed(name, `${beside} ${training[beside]}`, `${beside} ${value}`)),
    );
  return [...ofOthers, ...ofOtherModes];
}

/** @throws TandemError USAGE */
function ofOtherObjectives(name: keyof LearningParameters, training: TrainingParameters): string[] {
  const uses = ({ parameters = [] }: Pick<Objective, "parameters">): boolean => parameters.includes(name);
  const owners = objectives.filter(uses);
  const objective = objectiveFor(training.objective);
  const isUsed = owners.includes(objective) || training.eval_metric.some((metric) => uses(metricFor(metric)));
  if (owners.length === 0 || isUsed) return [];
  const owner = inWords(namesOf(owners));
  const spec = learningParameters[name];
  const advice = objective.refuses?.[name] ?? ("refusedElsewhere" in spec ? spec.refusedElsewhere : undefined);
  if (advice === undefined) return [notUsed(name, objective.name, owner)];
  throw new TandemError("USAGE", `parameter ${name} does not fit ${objective.name}: it belongs to ${owner}. ${advice}`);
}

function notUsed(name: string, given: string, owner: string): string {
  return `parameter ${name} is not used with ${given}: it belongs to ${owner}`;
}

function inWords(items: readonly string[]): string {
  return items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} and ${items.at(-1)}`;
}
