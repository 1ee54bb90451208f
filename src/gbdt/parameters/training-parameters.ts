/** All training parameters, including those that objectives and metrics declare. */
import { choice, list, type ParameterSpec, type ValuesOf } from "../../base/parameters/parameter-spec.ts";
import { metricNames, numberedMetricNames } from "../metric/metrics.ts";
import { namesOf, objectiveNames, objectives } from "../objective/objectives.ts";
import { learningParameters } from "./learning-parameters.ts";

export const trainingParameters = withObjectives({
  objective: choice(objectiveNames, "binary:logistic", "the training objective"),
  ...learningParameters,
  eval_metric: list(
    metricNames,
    numberedMetricNames,
    "metrics to report; the last decides early stopping (default: those of the objective)",
  ),
  early_stopping_rounds: {
    kind: "integer",
    default: 0,
    min: 0,
    max: 100_000,
    help: "stop after this number of rounds without a better validation metric, and keep the best round; 0: never",
  },
  eval_every: {
    kind: "integer",
    default: 1,
    min: 0,
    max: 100_000,
    help: "rounds between evaluations of the training rows; the last is always evaluated; 0: only the last",
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
