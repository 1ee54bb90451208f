/** Which of a passive party's rows a job is about, in which order. */
import { TandemError } from "../../base/error.ts";
import { rowNumbers, rowsWhere } from "../../base/rows/row-numbers.ts";
import { type PartyTable, selectRows, viewRows } from "../../data/dataset.ts";
import { tableDigestsInTurns } from "../../data/table-digest.ts";
import { readAlignment } from "../../store/passive-checkpoint.ts";
import { checkBitmap, isSet } from "../../wire/bitmap.ts";
import type { ActiveHello } from "../../wire/generated/tandem/v1/tandem_pb.ts";
import type { DeskFiles } from "./desk-files.ts";
import type { Aligned } from "./desk-state.ts";

export interface JobRows {
  readonly training: PartyTable;
  /** Bitmap over these rows: which are evaluated only and decide no bin; empty: none. */
  readonly validation: Uint8Array;
  /** The people whose predictions may be asked for. */
  readonly predictable: PartyTable;
}

export interface RowsWanted {
  readonly hello: ActiveHello;
  readonly job: string;
  /** The active party's pinned name. */
  readonly active: string;
  /** The alignment that this connection has made, if any. */
  readonly aligned: Aligned | null;
}

/** @throws TandemError ID_MISMATCH if this party's rows cannot be the ones that are meant */
export async function jobRows(files: DeskFiles, { hello, job, active, aligned }: RowsWanted): Promise<JobRows> {
  const { name } = files.config;
  const { trainingRows, validationRows: validation } = hello;
  const rowsOf = ({ rows }: OrderedRows, areTrained: boolean): Uint32Array =>
    rowsIn(trainingRows, rows.length, areTrained, name).map((place) => rows[place]);
  // Values become bins, and are not needed any more; but a start model asks for them again and again.
  const isStarted = (hello.parameters?.startModel ?? "") !== "";
  const training = (all: OrderedRows): PartyTable => (isStarted ? selectRows : viewRows)(all.table, rowsOf(all, true));
  // Whoever is trained on is not predicted: outcomes off their path would be told too.
  const others = (all: OrderedRows): PartyTable => selectRows(all.table, rowsOf(all, false));
  if (hello.aligned) {
    const all =
      aligned?.job === job ? { table: aligned.data.table, rows: aligned.rows } : await storedRows(files, job, active);
    return { training: training(all), validation, predictable: others(all) };
  }
  const { table } = await files.table();
  const all = { table, rows: rowNumbers(table.ids.length) };
  const test = await files.testTable();
  return { training: training(all), validation, predictable: test?.table ?? others(all) };
}

/** Some rows of a table in an order of their own; they are not copied before it is known which are wanted. */
interface OrderedRows {
  readonly table: PartyTable;
  readonly rows: Uint32Array;
}

/** The rows of the last alignment for a job, before this connection. */
async function storedRows(files: DeskFiles, job: string, active: string): Promise<OrderedRows> {
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

/** The rows that a bitmap names, or the others; without one it names all. */
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
 * The rows that decide where bins are cut; null: all. @throws TandemError PROTOCOL_STATE for a bitmap that does not fit
 */
export function decidingRows({ training, validation }: JobRows): Uint32Array | null {
  const count = training.ids.length;
  if (validation.length === 0) return null;
  checkBitmap(validation, count);
  const deciding = rowsWhere(count, (row) => !isSet(validation, row));
  if (deciding.length === 0) throw new TandemError("PROTOCOL_STATE", "all rows are held back for validation");
  return deciding;
}
