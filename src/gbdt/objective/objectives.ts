/** All objectives, by family. Their names, as values and as a type, are derived from here. */
import { assert } from "../../base/assert.ts";
import { TandemError } from "../../base/error.ts";
import type { RowColumnName } from "../../base/rows/row-columns.ts";
import { aftObjectives } from "./aft-objective.ts";
import { coxObjectives } from "./cox-objective.ts";
import { logLinkObjectives } from "./log-link-objectives.ts";
import { logisticObjectives } from "./logistic-objectives.ts";
import type { Objective } from "./objective.ts";
import { quantileObjectives } from "./quantile-objectives.ts";
import { rankObjectives } from "./rank-objectives.ts";
import { regressionObjectives } from "./regression-objectives.ts";
import { softmaxObjectives } from "./softmax-objectives.ts";

/** With their names as types, and nothing else: all of them would be thousands of lines of the library's types. */
const named = <const Some extends readonly Objective[]>(
  ...some: Some
): readonly (Objective & { readonly name: Some[number]["name"] })[] => some;

const declared = named(
  ...logisticObjectives,
  ...regressionObjectives,
  ...quantileObjectives,
  ...logLinkObjectives,
  ...coxObjectives,
  ...aftObjectives,
  ...rankObjectives,
  ...softmaxObjectives,
);

export type ObjectiveName = (typeof declared)[number]["name"];

export const objectives: readonly Objective[] = declared;
export const objectiveNames: readonly ObjectiveName[] = declared.map(({ name }) => name);

const byName: ReadonlyMap<string, Objective> = new Map(objectives.map((objective) => [objective.name, objective]));

export function objectiveFor(name: ObjectiveName): Objective {
  const objective = byName.get(name);
  assert(objective !== undefined, `no objective is called ${name}`);
  return objective;
}

/** From margins to predictions; in both the outputs of an instance are adjacent. */
export function predictionsFrom(name: ObjectiveName, margins: Float64Array, outputCount = 1): Float64Array {
  const { link, predictions } = objectiveFor(name);
  return predictions?.(margins, outputCount) ?? margins.map((margin) => link.prediction(margin));
}

/** Of two classes: the prediction above which the second is the likelier. */
export function classCutOff(name: ObjectiveName): number {
  return objectiveFor(name).cutOff ?? 0.5;
}

/** Predictions per instance. */
export function predictionCount(name: ObjectiveName, outputCount = 1): number {
  return objectiveFor(name).predictsOne === true ? 1 : outputCount;
}

/** @throws TandemError USAGE if the objective cannot start from this base_score */
export function baseMarginFrom({ name, link, about }: Objective, baseScore: number): number {
  if (link.takes(baseScore)) return link.margin(baseScore);
  throw new TandemError("USAGE", `base_score is ${about.baseScore} for ${name} and must ${link.demand}`);
}

/** The names of objectives, abbreviated to "rank:*" if the whole family is included. */
export function namesOf(some: readonly Objective[]): string[] {
  const prefixOf = ({ name }: Objective): string => name.slice(0, name.indexOf(":") + 1);
  const names = some.map((objective) => {
    const family = objectives.filter((other) => prefixOf(other) === prefixOf(objective));
    return family.length > 1 && family.every((other) => some.includes(other))
      ? `${prefixOf(objective)}*`
      : objective.name;
  });
  return [...new Set(names)];
}

/** The names of the objectives that take a column. */
export function namesTaking(column: RowColumnName): string {
  return namesOf(objectives.filter(({ takes = [] }) => takes.includes(column))).join(", ");
}
