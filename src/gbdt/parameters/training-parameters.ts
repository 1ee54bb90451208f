/** All training parameters, including those that objectives and metrics declare. */
import { choice, list, type ParameterSpec, type ValuesOf } from "../../base/parameters/parameter-spec.ts";
import { metricNames, numberedMetricNames } from "../metric/metrics.ts";
import { namesOf, objectiveNames, objectives } from "../objective/objectives.ts";
import { learningParameters } from "./learning-parameters.ts";

export const trainingParameters = withObjectives({
  objective: choice(objectiveNames, "binary:logistic", "what the trees learn"),
  ...learningParameters,
  eval_metric: list(
    metricNames,
    numberedMetricNames,
    "what is reported; the last decides early stopping. Without it: what fits the objective",
  ),
  early_stopping_rounds: {
    kind: "integer",
    default: 0,
    min: 0,
    max: 100_000,
    help: "stop when validation has not improved for so many rounds, and keep the best; 0 for never",
  },
  eval_every: {
    kind: "integer",
    default: 1,
    min: 0,
    max: 100_000,
    help: "evaluate the training rows after every so many rounds, and after the last; 0: after the last only",
  },
  seed: { kind: "integer", default: 7, min: 0, max: 4294967295, help: "fixes everything but the cryptographic nonces" },
} as const satisfies Record<string, ParameterSpec>);

export type TrainingParameters = ValuesOf<typeof trainingParameters>;

/** Adds to the help which objectives use a parameter, if not all do, and their own defaults. */
function withObjectives<T extends Record<string, ParameterSpec>>(table: T): T {
  const specs = Object.entries(table).map(([name, spec]) => {
    const users = objectives.filter(({ parameters }) => parameters?.some((own) => own === name));
    const help = users.length === 0 ? spec.help : `${namesOf(users).join(", ")}: ${spec.help}`;
    const defaultOf = Object.fromEntries(
      objectives.flatMap(({ name: objective, defaults }) =>
        Object.entries(defaults ?? {}).flatMap(([own, value]) => (own === name ? [[objective, value]] : [])),
      ),
    );
    return [name, { ...spec, help, ...(Object.keys(defaultOf).length === 0 ? {} : { defaultOf }) }];
  });
  return Object.fromEntries(specs) as T;
}
