/**
 * The tables of docs/objectives.md, made from what objectives and metrics declare: scripts/parameter-page.mjs writes
 * them between their marks, a test compares them.
 */
import { assert } from "../../src/base/assert.ts";
import { resolveParameters } from "../../src/base/parameters/parameters.ts";
import type { Metric } from "../../src/gbdt/metric/metric.ts";
import { fitsObjective, metrics } from "../../src/gbdt/metric/metrics.ts";
import type { Objective } from "../../src/gbdt/objective/objective.ts";
import { namesOf, objectives } from "../../src/gbdt/objective/objectives.ts";
import { type TrainingParameters, trainingParameters } from "../../src/gbdt/parameters/training-parameters.ts";

/** The page with its tables as they should be. */
export function withObjectiveTables(page: string): string {
  return between(between(page, "objectives", objectiveTable()), "metrics", metricTable());
}

function between(page: string, name: string, table: string): string {
  const [begin, end] = [`<!-- ${name}: made by \`npm run parameters\`, do not edit -->`, `<!-- end of ${name} -->`];
  const [from, to] = [page.indexOf(begin) + begin.length, page.indexOf(end)];
  assert(from >= begin.length && to > from, `the page has no marks of ${name}`);
  return `${page.slice(0, from)}\n\n${table}\n\n${page.slice(to)}`;
}

function objectiveTable(): string {
  const titles = [
    "objective",
    "labels",
    "prediction",
    "base_score",
    "metrics",
    "parameters",
    "gradient bounds",
    "XGBoost",
  ];
  return markdownTable([titles, ...objectives.map(objectiveRow)]);
}

function objectiveRow(objective: Objective): string[] {
  const { name, about, takes = [], parameters = [], defaults = {}, xgboost } = objective;
  const { g, h } = objective.bounds(parametersFor(objective));
  return [
    code(name),
    [about.labels, ...takes.map((column) => `with ${code(column)}`)].join(", "),
    about.prediction,
    about.baseScore,
    objective.metrics.map(code).join(", "),
    [...parameters.map(code), ...Object.entries(defaults).map(([own, value]) => `${code(own)} ${value}`)].join(", "),
    g === null || h === null ? "per round" : "fixed",
    xgboost?.since ?? "none",
  ];
}

function metricTable(): string {
  const titles = ["metric", "meaning", "better", "for"];
  return markdownTable([titles, ...metrics.map(metricRow)]);
}

function metricRow({ name, about, numbered, higherIsBetter, needsBinaryLabels, fits }: Metric): string[] {
  const fitting = objectives.filter((objective) => fitsObjective({ fits }, parametersFor(objective)));
  return [
    [name, ...(numbered === undefined ? [] : [`${name}@${numbered}`])].map(code).join(", "),
    about,
    higherIsBetter === true ? "higher" : "lower",
    namesOf(fitting).map(code).join(", ") + (needsBinaryLabels === true ? " with labels 0 and 1" : ""),
  ];
}

function parametersFor({ name }: Objective): TrainingParameters {
  return resolveParameters(trainingParameters, { objective: name });
}

function code(text: string): string {
  return `\`${text}\``;
}

/** As the formatter writes it: columns of one width. */
function markdownTable(rows: readonly (readonly string[])[]): string {
  const widths = rows[0].map((_, column) => Math.max(3, ...rows.map((row) => row[column].length)));
  const line = (cells: readonly string[], fill = " "): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column], fill)).join(" | ")} |`;
  const rule = line(
    widths.map(() => ""),
    "-",
  );
  return [line(rows[0]), rule, ...rows.slice(1).map((row) => line(row))].join("\n");
}
