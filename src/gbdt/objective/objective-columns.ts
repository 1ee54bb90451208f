/** Which per-row columns an objective takes, and which values are valid. */
import { TandemError } from "../../base/error.ts";
import { type RowColumnName, rowColumnNamed, rowColumnNames } from "../../base/rows/row-columns.ts";
import type { TrainingRows } from "../rows/training-rows.ts";
import type { Objective } from "./objective.ts";
import { objectives } from "./objectives.ts";

/**
 * @throws TandemError USAGE for columns that the objective does not take, or lacks; LABEL_INVALID or WEIGHT_INVALID
 * naming the first instance that cannot be used, never its value
 */
export function checkColumns(objective: Objective, { columns, labels }: TrainingRows, outputCount: number): void {
  const { name, takes = [] } = objective;
  for (const column of rowColumnNames) {
    const values = columns[column];
    if (values !== undefined && isOfObjectives(column) && !takes.includes(column))
      throw new TandemError("USAGE", `${name} takes no ${column}: leave it out`);
    if (values === undefined && takes.includes(column))
      throw new TandemError("USAGE", `${name} needs a column ${column}, at the active party`);
    if (values !== undefined) rowColumnNamed(column).check?.(values, { name, outputCount });
  }
  objective.checkColumns?.(columns, labels);
}

/** Only some objectives need it, and the others reject it. */
function isOfObjectives(column: RowColumnName): boolean {
  return objectives.some(({ takes = [] }) => takes.includes(column));
}
