/** Selects the rows of a passive party that a job uses, in the common order. */
import { TandemError } from "../../base/error.ts";
import { rowNumbers, rowsWhere } from "../../base/rows/row-numbers.ts";
import { type PartyTable, selectRows, viewRows } from "../../data/dataset.ts";
import { tableDigestsInTurns } from "../../data/table-digest.ts";
import { readAlignment } from "../../store/passive-checkpoint.ts";
import { checkBitmap, isSet } from "../../wire/bitmap.ts";
import type { ActiveHello } from "../../wire/generated/tandem/v1/tandem_pb.ts";
import type { PassiveFiles } from "./passive-files.ts";
import type { Aligned } from "./admission-state.ts";

export interface JobRows {
  readonly training: PartyTable;
  /** Bitmap over these rows of the validation rows, which are not used for cuts; empty: none. */
  readonly validation: Uint8Array;
  /** The rows whose predictions may be requested. */
  readonly predictable: PartyTable;
  /** The whole table, and the training rows of it. */
  readonly source: OrderedRows;
}

export interface RowsWanted {
  readonly hello: ActiveHello;
  readonly job: string;
  /** The active party's pinned name. */
  readonly active: string;
  /** The alignment made over this connection, if any. */
  readonly aligned: Aligned | null;
}

/** @throws TandemError ID_MISMATCH if this party's rows do not match the hello */
export async function jobRows(files: PassiveFiles, { hello, job, active, aligned }: RowsWanted): Promise<JobRows> {
  const { name } = files.config;
  const { trainingRows, validationRows: validation } = hello;
  const rowsOf = ({ rows }: OrderedRows, areTrained: boolean): Uint32Array =>
    rowsIn(trainingRows, rows.length, areTrained, name).map((place) => rows[place]);
  // Values are binned and then dropped, unless a start model needs them.
  const isStarted = (hello.parameters?.startModel ?? "") !== "";
  const training = (all: OrderedRows): PartyTable => (isStarted ? selectRows : viewRows)(all.table, rowsOf(all, true));
  const sourceOf = (all: OrderedRows): OrderedRows => ({ table: all.table, rows: rowsOf(all, true) });
  // Training rows are not predicted: that would also reveal outcomes off their path.
  const others = (all: OrderedRows): PartyTable => selectRows(all.table, rowsOf(all, false));
  if (hello.aligned) {
    const all =
      aligned?.job === job ? { table: aligned.data.table, rows: aligned.rows } : await storedRows(files, job, active);
    return { training: training(all), validation, predictable: others(all), source: sourceOf(all) };
  }
  const { table } = await files.table();
  const all = { table, rows: rowNumbers(table.ids.length) };
  const test = await files.testTable();
  const predictable = test?.table ?? others(all);
  return { training: training(all), validation, predictable, source: sourceOf(all) };
}

/** Some rows of a table in their own order; copied only when the selection is known. */
export interface OrderedRows {
  readonly table: PartyTable;
  readonly rows: Uint32Array;
}

/** The rows of the job's last alignment, over an earlier connection. */
async function storedRows(files: PassiveFiles, job: string, active: string): Promise<OrderedRows> {
  const { name } = files.config;
  const stored = await files.using(() => readAlignment(files.checkpointsOf(job).folder, files.storage));
  if (stored === null || stored.active !== active)
    throw new TandemError("PROTOCOL_STATE", `${name}: job ${job} was not aligned`);
  const { table } = await files.table();
  const [digest] = await tableDigestsInTurns(table);
  if (digest !== stored.data)
    throw new TandemError(
      "CHECKPOINT",
      `the data of ${name} has changed since job ${job} was aligned; put it back, or choose another name`,
    );
  return { table, rows: stored.rows };
}

/** The rows set in a bitmap, or the others; an empty bitmap stands for all rows. */
function rowsIn(bitmap: Uint8Array, rowCount: number, areNamed: boolean, name: string): Uint32Array {
  if (bitmap.length === 0) return areNamed ? rowNumbers(rowCount) : new Uint32Array(0);
  try {
    checkBitmap(bitmap, rowCount);
  } catch (cause) {
    throw new TandemError(
      "ID_MISMATCH",
      `${name} does not hold the same ids in the same order as the active party; align the data first`,
      { cause },
    );
  }
  return rowsWhere(rowCount, (row) => isSet(bitmap, row) === areNamed);
}

/**
 * The rows that cuts are computed from; null: all. @throws TandemError PROTOCOL_STATE for a bitmap of wrong length
 */
export function decidingRows({ training, validation }: JobRows): Uint32Array | null {
  const count = training.ids.length;
  if (validation.length === 0) return null;
  checkBitmap(validation, count);
  const deciding = rowsWhere(count, (row) => !isSet(validation, row));
  if (deciding.length === 0) throw new TandemError("PROTOCOL_STATE", "all rows are held back for validation");
  return deciding;
}
