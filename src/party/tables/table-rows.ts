/** A table of the active party as rows to train on or to evaluate. */
import { TandemError } from "../../base/error.ts";
import type { PartyTable } from "../../data/dataset.ts";
import { TrainingRows } from "../../gbdt/rows/training-rows.ts";

/** @throws TandemError LABEL_INVALID for a passive party's table */
export function requiredLabels(table: Pick<PartyTable, "labels">): Float64Array {
  if (table.labels === null) throw new TandemError("LABEL_INVALID", "the active party needs labels");
  return table.labels;
}

/** @throws TandemError LABEL_INVALID for a passive party's table */
export function rowsOfTable(
  table: Pick<PartyTable, "labels" | "rowColumns">,
  validation: Uint32Array | null = null,
): TrainingRows {
  return new TrainingRows(requiredLabels(table), { columns: table.rowColumns, validation });
}

/** @throws TandemError LABEL_INVALID if all labels are alike */
export function trainableRows(table: PartyTable, validation: Uint32Array | null = null): TrainingRows {
  const rows = rowsOfTable(table, validation);
  if (rows.labels.every((label) => label === rows.labels[0]))
    throw new TandemError(
      "LABEL_INVALID",
      `the label is the same in all ${rows.count} training rows; there is nothing to learn`,
    );
  return rows;
}
