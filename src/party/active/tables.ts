/**
 * The active party's rows of a job: read, aligned with the other parties', and cut into training and test rows.
 *
 * @reveals passive: which of the common instances are trained on; which of them are held back for validation
 */
import { sourceIn } from "../../data/sources/registry.ts";
import { intersectActive, type PairwiseCounts } from "../../psi/active-psi.ts";
import { assert } from "../../base/assert.ts";
import { TandemError } from "../../base/error.ts";
import type { Storage } from "../../base/files/storage.ts";
import { columnsOfRows, noColumns, type RowColumns } from "../../base/rows/row-columns.ts";
import { rowNumbers, rowsWhere } from "../../base/rows/row-numbers.ts";
import { CategoryBook } from "../../data/category-book.ts";
import { type PartyTable, selectRows } from "../../data/dataset.ts";
import { drawnGroups } from "../../data/drawn-groups.ts";
import type { Notice } from "../../data/feature-columns.ts";
import { withClassCount } from "../../gbdt/objective/outputs.ts";
import { splitRows, validationRows } from "../../data/split.ts";
import { pathTitle } from "../../data/table-parts.ts";
import { bitmapFrom } from "../../wire/bitmap.ts";
import { messageBytesMax } from "../../wire/version.ts";
import { checkGroupWeights } from "../../gbdt/objective/group-weights.ts";
import type { TrainingRows } from "../../gbdt/rows/training-rows.ts";
import type { SharedRows } from "../../protocol/active/role.ts";
import type { Job } from "../../protocol/job.ts";
import type { ActiveConfig } from "../config/config.ts";
import type { Emit } from "../../record/events.ts";
import { alignedCsv, joinParts, type TablePart } from "../tables/joined-tables.ts";
import { readPartyTable } from "../tables/party-data.ts";
import { laterLabels, type LabelSpec } from "../tables/party-labels.ts";
import { trainableRows } from "../tables/table-rows.ts";
import type { ConnectedPeer } from "./world.ts";

/** The rows of each file, in this order; those after the first may be missing. */
export type ActiveTables = readonly [train: TablePart, ...others: TablePart[]];

/** The files' rows, until they are dropped: a job's own rows are a copy in the common order. */
export class ReadTables {
  #tables: ActiveTables | null;

  constructor(tables: ActiveTables) {
    this.#tables = tables;
  }

  get tables(): ActiveTables {
    assert(this.#tables !== null, "the files' rows are not dropped yet");
    return this.#tables;
  }

  forget(): void {
    this.#tables = null;
  }
}

/** The rows of a job, in the order that all parties share. */
export interface JobTables {
  readonly train: PartyTable;
  readonly test: PartyTable | null;
  /** Of `train`. */
  readonly rows: TrainingRows;
  /** For the hello: which of the shared rows the job uses. */
  readonly sharedRows: SharedRows;
}

export interface AlignedRows {
  /** Positions in the rows of all files, in the common order. */
  readonly rows: Uint32Array;
  readonly pairwise: readonly PairwiseCounts[];
}

/** The parts of a config that select rows. */
type JobData = Pick<ActiveConfig, "data"> & { readonly job: Pick<Job, "training"> };

/** @throws TandemError naming file, line and column of an error */
export async function readActiveTables(
  { data, job: { training } }: JobData,
  notice: Notice = () => {},
): Promise<ActiveTables> {
  const { label: column, positive, classes } = data;
  const label: LabelSpec = { label: column, positive, classes, training, columns: data };
  if (data.categorical.length > 0 && !training.enable_categorical)
    throw new TandemError(
      "USAGE",
      "'data.categorical' names columns, but the training parameter enable_categorical is not set",
    );
  const reading = {
    text: training.enable_categorical ? ("categories" as const) : ("refuse" as const),
    book: new CategoryBook(),
    notice,
  };
  const train = await readPartyTable(sourceIn(data), data, label, reading);
  // Feature types are those of the training rows, also in the other files.
  const later = {
    ...data,
    features: [...train.table.featureNames],
    categorical: Object.keys(train.table.categories ?? {}),
  };
  const trained = laterLabels(train.table);
  const others: TablePart[] = [];
  for (const field of ["test_path", "validation_path"] as const) {
    const path = data[field];
    if (path !== undefined)
      others.push({
        field,
        path,
        rows: await readPartyTable({ path }, later, { ...label, trained }, { ...reading, text: "as trained" }),
      });
  }
  const path = data.path === undefined ? "the training data" : pathTitle(data.path);
  const parts: ActiveTables = [{ field: "path", path, rows: train }, ...others];
  for (const part of parts) checkGroups(part);
  return parts;
}

/** Checked for test rows too, before training. @throws TandemError WEIGHT_INVALID */
function checkGroups({ path, rows }: TablePart): void {
  const { weight, qid } = rows.table.rowColumns ?? noColumns;
  if (weight !== undefined && qid !== undefined) checkGroupWeights(weight, qid, `${path}: `);
}

/** The config with the class names and num_class. @throws TandemError USAGE if its num_class differs */
export function withClassesOf(config: ActiveConfig, [{ rows }]: ActiveTables): ActiveConfig {
  const { classes } = rows.table;
  if (!classes) return config;
  return {
    ...config,
    data: { ...config.data, classes: [...classes] },
    job: { ...config.job, training: withClassCount(config.job.training, classes) },
  };
}

/**
 * @param file file for the common rows; path null: none
 * @throws TandemError ID_MISMATCH if no instance is common to all parties
 */
export async function alignTables(
  tables: ActiveTables,
  peers: readonly ConnectedPeer[],
  config: Pick<ActiveConfig, "name" | "job" | "threads" | "max_passive_ids" | "data">,
  emit: Emit,
  file: { readonly path: string | null; readonly storage: Storage },
): Promise<AlignedRows> {
  const { name, job, threads, data } = config;
  const joined = joinParts(tables);
  const { ids } = joined;
  emit({
    type: "aligning",
    party: name,
    peer: peers.map((peer) => peer.name).join(", "),
    job: job.name,
    ownIdCount: ids.ids.length,
    peerIdCount: 0,
  });
  const onProgress = (done: number, total: number): void =>
    emit({ type: "alignment-progress", party: name, done, total });
  const aligning = peers.map((peer) => peer.alignment(job.name, data.validation_path !== undefined));
  const { rows, pairwise } = await intersectActive(ids, aligning, {
    onProgress,
    passiveIdCountMax: config.max_passive_ids,
    onAlarm: (peer, words) => emit({ type: "alarm", party: name, peer, words }),
    ...(threads === undefined ? {} : { threads }),
  });
  emit({ type: "aligned", party: name, job: job.name, commonCount: rows.length, pairwise });
  if (rows.length === 0) {
    const shared = pairwise.map(({ peer, sharedCount }) => `${sharedCount} with ${peer}`).join(", ");
    throw new TandemError(
      "ID_MISMATCH",
      `no id is common to all parties (${shared}); do all of them use the same kind of id, and the same 'normalise'?`,
    );
  }
  if (file.path !== null) await file.storage.write(file.path, alignedCsv(joined, rows));
  return { rows, pairwise };
}

/** @param aligned null where the parties' files have the same ids in the same order */
export function jobTables(
  tables: ActiveTables,
  aligned: Uint32Array | null,
  { data, job: { training } }: JobData,
): JobTables {
  // Without alignment the rows of the test file are looked up by id, and have no common order.
  const apart = aligned === null ? tables.find(({ field }) => field === "test_path") : undefined;
  const all = joinParts(tables.filter((part) => part !== apart));
  const order = aligned ?? rowNumbers(all.table.ids.length);
  const fieldAt = (place: number): TablePart["field"] => all.fieldOf(order[place]);
  // Directly from the files' rows: a table in the common order would take as much memory again.
  const select = (which: Uint32Array): PartyTable =>
    selectRows(
      all.table,
      which.map((place) => order[place]),
    );
  const seed = data.seed ?? training.seed;
  const columns = columnsOfRows(all.table.rowColumns ?? noColumns, order);
  const isTest = testRows(order.length, fieldAt, data.test_fraction, seed, columns);
  const chosen = rowsWhere(order.length, (place) => !isTest(place));
  const rest = rowsWhere(order.length, isTest);
  const fromFile = rowsWhere(chosen.length, (i) => fieldAt(chosen[i]) === "validation_path");
  if (chosen.length === fromFile.length)
    throw new TandemError("ID_MISMATCH", "none of the training rows' ids is common to all parties");
  if (data.validation_path !== undefined && fromFile.length === 0)
    throw new TandemError("ID_MISMATCH", "none of the validation rows' ids is common to all parties");
  const bitmap = rest.length === 0 ? new Uint8Array(0) : bitmapFrom(order.length, (row) => !isTest(row));
  if (bitmap.length > messageBytesMax / 2)
    throw new TandemError("USAGE", `${order.length} rows are too many for one job with test rows`);
  const train = select(chosen);
  return {
    train,
    test: apart?.rows.table ?? (rest.length === 0 ? null : select(rest)),
    rows: trainableRows(train, data.validation_path !== undefined ? fromFile : drawnValidation(train, data, seed)),
    sharedRows: { aligned: aligned !== null, training: bitmap },
  };
}

function drawnValidation(
  { ids, rowColumns = noColumns }: PartyTable,
  { validation_fraction: fraction }: ActiveConfig["data"],
  seed: number,
): Uint32Array | null {
  if (fraction === undefined) return null;
  return drawnGroups(rowColumns, ids.length, (units) => validationRows(units, fraction, seed));
}

/** @param fieldAt per shared row the file it is from; test rows are never drawn from the validation file */
function testRows(
  count: number,
  fieldAt: (place: number) => TablePart["field"],
  fraction: number | undefined,
  seed: number,
  columns: RowColumns,
): (place: number) => boolean {
  if (fraction === undefined) return (place) => fieldAt(place) === "test_path";
  const drawable = rowsWhere(count, (place) => fieldAt(place) !== "validation_path");
  const drawn = drawnGroups(
    columnsOfRows(columns, drawable),
    drawable.length,
    (units) => splitRows(units, fraction, seed).test,
  );
  const isTest = new Uint8Array(count);
  for (const place of drawn) isTest[drawable[place]] = 1;
  return (place) => isTest[place] === 1;
}
