/** Which columns an objective takes besides labels and weights, and what may stand in them. */
import { TandemError } from "../../base/error.ts";
import type { RowColumns } from "../../base/row-columns.ts";
import type { Objective } from "./objective.ts";

/**
 * @throws TandemError USAGE for columns that the objective does not take, or lacks; LABEL_INVALID naming the first
 * instance that cannot be used, never its value
 */
export function checkColumns(
  objective: Objective,
  columns: RowColumns,
  labels: Float64Array,
  outputCount: number,
): void {
  const { name, takes = [] } = objective;
  for (const column of ["label_upper_bound", "qid"] as const) {
    const isGiven = columns[column] !== undefined;
    if (isGiven && !takes.includes(column)) throw new TandemError("USAGE", `${name} takes no ${column}: leave it out`);
    if (!isGiven && takes.includes(column))
      throw new TandemError("USAGE", `${name} needs a column ${column}, at the active party`);
  }
  objective.checkColumns?.(columns, labels);
  const { base_margin: baseMargin } = columns;
  if (baseMargin === undefined) return;
  if (outputCount > 1)
    throw new TandemError("USAGE", `base_margin is one column, but ${name} has ${outputCount} outputs here`);
  const bad = baseMargin.findIndex((margin) => !Number.isFinite(margin));
  if (bad >= 0) throw new TandemError("LABEL_INVALID", `the base_margin of instance ${bad} is not a finite number`);
}
