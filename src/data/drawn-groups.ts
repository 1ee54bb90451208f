/** Samples of rows by group: whole groups are drawn, so that no ranking group is divided. */
import { drawnTogether, type RowColumns } from "../base/rows/row-columns.ts";
import type { RowSplit } from "./split.ts";

/**
 * @param draw how many units there are -> places of the drawn ones
 * @returns the rows of the drawn groups, ascending
 */
export function drawnGroups(
  columns: RowColumns,
  rowCount: number,
  draw: (unitCount: number) => Uint32Array,
): Uint32Array {
  const groups = drawnTogether(columns);
  if (groups === undefined) return draw(rowCount);
  const names = [...new Set(groups)];
  const drawn = new Set(Array.from(draw(names.length), (place) => names[place]));
  return Uint32Array.from({ length: rowCount }, (_, row) => row).filter((row) => drawn.has(groups[row]));
}

/** The same for both sides of a split. */
export function splitGroups(columns: RowColumns, rowCount: number, split: (unitCount: number) => RowSplit): RowSplit {
  return {
    train: drawnGroups(columns, rowCount, (count) => split(count).train),
    test: drawnGroups(columns, rowCount, (count) => split(count).test),
  };
}
