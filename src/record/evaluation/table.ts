/**
 * A table of an evaluation: shown on the page and in the report, and exported as CSV and JSON.
 *
 * Runs in browsers too.
 */
import { formatCount } from "../../base/text/format.ts";
import { figureText, percentText } from "./facts.ts";

type Cell = string | number | null;

export interface EvaluationTable {
  /** Of its CSV file. */
  readonly name: string;
  readonly title: string;
  /** What it shows, and how to read it. */
  readonly about: string;
  readonly columns: readonly EvaluationColumn[];
  readonly rows: readonly (readonly Cell[])[];
}

interface EvaluationColumn {
  readonly name: string;
  readonly format: (value: number) => string;
}

export const text: Pick<EvaluationColumn, "format"> = { format: String };
export const whole = { format: (value: number) => formatCount(Math.round(value)) };
export const figure = { format: figureText };
export const thousandths = { format: (value: number) => value.toFixed(3) };
export const percent = { format: percentText };
export const points = { format: (value: number) => String(Math.round(value)) };
export const column = (name: string, { format }: Pick<EvaluationColumn, "format">): EvaluationColumn => ({
  name,
  format,
});

/** A cell for people. */
export function cellText(cell: Cell, { format }: EvaluationColumn): string {
  return typeof cell === "number" ? format(cell) : (cell ?? "–");
}

/** JSON has no NaN. */
export function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}
