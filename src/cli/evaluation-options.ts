/** The options of an evaluation: where scores are cut, what wrong decisions cost, the scale of points, and exports. */
import type { Command } from "commander";
import { TandemError } from "../base/error.ts";
import type { ModelEvaluation } from "../record/evaluation/evaluation.ts";
import { evaluationTables } from "../record/evaluation/tables.ts";
import { type EvaluationTerms, usualTerms } from "../record/evaluation/terms.ts";
import { writeTables } from "./tables-csv.ts";

export interface EvaluationFlags {
  readonly cost?: string;
  readonly flagRate?: string;
  readonly threshold?: string;
  readonly pointsToDouble?: string;
  readonly basePoints?: string;
  readonly baseOdds?: string;
  readonly json?: boolean;
  readonly csv?: string;
}

const { costs, rates, scale } = usualTerms;

export function addEvaluationOptions(command: Command): Command {
  return command
    .option(
      "--cost <miss:alarm>",
      `cost of a missed label 1 and of a false alarm (default: ${costs.miss}:${costs.falseAlarm})`,
    )
    .option("--flag-rate <parts>", `cut-offs that flag at most these parts of the rows (default: ${rates.join(",")})`)
    .option("--threshold <scores>", "further cut-offs, as scores")
    .option("--points-to-double <points>", `scorecard: points that double the odds (default: ${scale.pointsToDouble})`)
    .option("--base-points <points>", `scorecard: points at the base odds (default: ${scale.basePoints})`)
    .option("--base-odds <odds>", `scorecard: odds of label 0 to label 1 there (default: ${scale.baseOdds})`)
    .option("--json", "print the evaluation and its tables as one line of JSON")
    .option("--csv <folder>", "write the tables of the evaluation as CSV files");
}

/** @throws TandemError USAGE */
export function evaluationTerms(flags: EvaluationFlags): EvaluationTerms {
  const given = (option: string, value: string | undefined, usual: number): number =>
    value === undefined ? usual : inRange(option, value, Number.MIN_VALUE, Number.MAX_VALUE, "a number above 0");
  return {
    costs: flags.cost === undefined ? costs : costsFrom(flags.cost),
    rates:
      flags.flagRate === undefined
        ? rates
        : flags.flagRate.split(",").map((part) => inRange("--flag-rate", part, 0, 1, "parts from 0 to 1")),
    thresholds: (flags.threshold?.split(",") ?? []).map((score) =>
      inRange("--threshold", score, -Number.MAX_VALUE, Number.MAX_VALUE, "numbers"),
    ),
    scale: {
      pointsToDouble: given("--points-to-double", flags.pointsToDouble, scale.pointsToDouble),
      basePoints: given("--base-points", flags.basePoints, scale.basePoints),
      baseOdds: given("--base-odds", flags.baseOdds, scale.baseOdds),
    },
  };
}

function costsFrom(text: string): EvaluationTerms["costs"] {
  const parts = text.split(":");
  const wanted = "two numbers from 0 on, such as 5:1";
  if (parts.length !== 2) throw new TandemError("USAGE", `--cost must be ${wanted}; got '${text}'`);
  const [miss, falseAlarm] = parts.map((part) => inRange("--cost", part, 0, Number.MAX_VALUE, wanted));
  return { miss, falseAlarm };
}

function inRange(option: string, text: string, min: number, max: number, wanted: string): number {
  const value = Number(text);
  if (text.trim() !== "" && Number.isFinite(value) && value >= min && value <= max) return value;
  throw new TandemError("USAGE", `${option} must be ${wanted}; got '${text}'`);
}

/** For programs: the evaluation, and its tables as people see them, with all digits. */
export function evaluationJson(evaluation: ModelEvaluation, terms: EvaluationTerms) {
  const tables = evaluationTables(evaluation, terms).map(({ name, columns, rows }) => [
    name,
    rows.map((row) => Object.fromEntries(columns.map((column, i) => [column.name, row[i]]))),
  ]);
  return { evaluation, tables: Object.fromEntries(tables) as Record<string, unknown> };
}

/** A file per table. @returns the files */
export function writeEvaluationCsv(
  folder: string,
  evaluation: ModelEvaluation,
  terms: EvaluationTerms,
): Promise<string[]> {
  return writeTables(folder, evaluationTables(evaluation, terms));
}
