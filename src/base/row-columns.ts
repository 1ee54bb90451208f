/**
 * Columns of the active party, besides labels and weights, that say how its rows are learnt. They never leave it.
 *
 * - base_margin: where a row's margin starts, in place of base_score (XGBoost's base_margin).
 * - label_upper_bound: of survival:aft, the latest that the event can have happened; infinity if nobody knows.
 * - qid: of rank:*, the group that a row is ranked in.
 */
import { float64Of } from "./row-numbers.ts";

export const rowColumnNames = ["base_margin", "label_upper_bound", "qid"] as const;
export type RowColumnName = (typeof rowColumnNames)[number];
export type RowColumns = Readonly<Partial<Record<RowColumnName, Float64Array>>>;

export const noColumns: RowColumns = {};

/** The same columns with what `of` makes of each. */
export function mapColumns<T>(
  columns: RowColumns,
  of: (column: Float64Array, name: RowColumnName) => T,
): Partial<Record<RowColumnName, T>> {
  const made: Partial<Record<RowColumnName, T>> = {};
  for (const name of rowColumnNames) {
    const column = columns[name];
    if (column !== undefined) made[name] = of(column, name);
  }
  return made;
}

/** Of some rows; null: of all. */
export function columnsOfRows(columns: RowColumns, rows: Uint32Array | null): RowColumns {
  return rows === null ? columns : mapColumns(columns, (column) => float64Of(column, rows));
}
