/**
 * The active party's rows of a job: read, aligned with the other parties', and cut into training and test rows.
 *
 * @reveals passive: which of the common instances are trained on; which of them are held back for validation
 */
import { alignActive, type PairwiseCounts } from "../align/active-alignment.ts";
import type { AlignmentPeer } from "../align/alignment-peer.ts";
import { DistinctIds } from "../align/normalise.ts";
import { TandemError } from "../base/error.ts";
import { CategoryBook } from "../data/category-book.ts";
import { type PartyTable, selectRows } from "../data/dataset.ts";
import { splitRows, validationRows } from "../data/split.ts";
import { bitmapFrom } from "../protocol/bitmap.ts";
import { messageBytesMax } from "../protocol/version.ts";
import type { ActiveConfig } from "./config.ts";
import type { Emit } from "./events.ts";
import { type DistinctTable, readPartyTable, sourceOf } from "./party-data.ts";

/** The rows of both files, one after the other; `test` is null where there is no test file. */
export interface ActiveTables {
  readonly train: DistinctTable;
  readonly test: DistinctTable | null;
}

/** The rows of a job, in the order that all parties share. */
export interface JobTables {
  readonly train: PartyTable;
  readonly test: PartyTable | null;
  /** For the hello: which of the shared rows are trained on. */
  readonly rows: { readonly aligned: boolean; readonly training: Uint8Array };
  /** Those of `train` that are evaluated after every round, but not learnt from; null: none. */
  readonly validationRows: Uint32Array | null;
}

export interface AlignedRows {
  /** Positions in the rows of both files, in the common order. */
  readonly rows: Uint32Array;
  readonly pairwise: readonly PairwiseCounts[];
}

/** @throws TandemError naming file, line and column of what cannot be used */
export async function readActiveTables({ data, training }: Pick<ActiveConfig, "data" | "training">): Promise<ActiveTables> {
  const label = { label: data.label, positive: data.positive, weight: data.weight, binary: training.objective === "binary:logistic" };
  if (data.categorical.length > 0 && !training.enable_categorical) throw new TandemError("USAGE", "'data.categorical' names columns, but the training parameter enable_categorical is not set");
  const reading = { text: training.enable_categorical ? ("categories" as const) : ("refuse" as const), book: new CategoryBook() };
  const train = await readPartyTable(sourceOf(data), data, label, reading);
  if (data.test_path === undefined) return { train, test: null };
  // Whatever the test cells look like, a feature is what it is in the training rows.
  const categorical = Object.keys(train.table.categories ?? {});
  const test = await readPartyTable({ path: data.test_path }, { ...data, features: [...train.table.featureNames], categorical }, label, { ...reading, text: "refuse" });
  return { train, test };
}

/** @throws TandemError ID_MISMATCH if the parties have nobody in common */
export async function alignTables(tables: ActiveTables, peers: readonly AlignmentPeer[], config: Pick<ActiveConfig, "name" | "job" | "data" | "threads">, emit: Emit): Promise<AlignedRows> {
  const { name, job, threads } = config;
  const ids = idsOfBoth(tables, config.data.test_path ?? "");
  emit({ type: "aligning", party: name, peer: peers.map((peer) => peer.name).join(", "), job, ownIdCount: ids.ids.length, peerIdCount: 0 });
  const onProgress = (done: number, total: number): void => emit({ type: "alignment-progress", party: name, done, total });
  const { rows, pairwise } = await alignActive(ids, peers, { onProgress, ...(threads === undefined ? {} : { threads }) });
  emit({ type: "aligned", party: name, job, commonCount: rows.length, pairwise });
  if (rows.length === 0) {
    const shared = pairwise.map(({ peer, sharedCount }) => `${sharedCount} with ${peer}`).join(", ");
    throw new TandemError("ID_MISMATCH", `no id is common to all parties (${shared}); do all of them use the same kind of id, and the same 'normalise'?`);
  }
  return { rows, pairwise };
}

function idsOfBoth({ train, test }: ActiveTables, testPath: string): DistinctIds {
  if (test === null) return train.ids;
  const known = new Set(train.ids.ids);
  const repeated = test.ids.ids.filter((id) => known.has(id)).length;
  if (repeated > 0) throw new TandemError("ID_DUPLICATE", `${testPath}: ${repeated} of its ids stand in the training data too; training and test rows must be different people`);
  // Normalising again changes nothing.
  return DistinctIds.from([...train.ids.ids, ...test.ids.ids], { normalise: train.ids.normalisations });
}

/** @param aligned null where the parties' files list the same people in the same order already */
export function jobTables(tables: ActiveTables, aligned: Uint32Array | null, { data, training }: Pick<ActiveConfig, "data" | "training">): JobTables {
  const { train, test } = tables;
  const validationOf = (rowCount: number): Uint32Array | null => (data.validation_fraction === undefined ? null : validationRows(rowCount, data.validation_fraction, data.seed ?? training.seed));
  if (aligned === null && test !== null) {
    return { train: train.table, test: test.table, rows: { aligned: false, training: new Uint8Array(0) }, validationRows: validationOf(train.table.ids.length) };
  }
  const all = test === null ? train.table : joined(train.table, test.table);
  const shared = aligned === null ? all : selectRows(all, aligned);
  const count = shared.ids.length;
  const everyRow = Uint32Array.from({ length: count }, (_, row) => row);
  const trainCount = train.table.ids.length;
  const isTest = testRows(count, aligned ?? everyRow, trainCount, data.test_fraction, data.seed ?? training.seed);
  const chosen = everyRow.filter((row) => !isTest(row));
  const rest = everyRow.filter(isTest);
  if (chosen.length === 0) throw new TandemError("ID_MISMATCH", "none of the training rows' ids is common to all parties");
  const bitmap = rest.length === 0 ? new Uint8Array(0) : bitmapFrom(count, (row) => !isTest(row));
  if (bitmap.length > messageBytesMax / 2) throw new TandemError("USAGE", `${count} rows are too many for one job with test rows`);
  return {
    train: selectRows(shared, chosen),
    test: rest.length === 0 ? null : selectRows(shared, rest),
    rows: { aligned: aligned !== null, training: bitmap },
    validationRows: validationOf(chosen.length),
  };
}

function testRows(count: number, rows: Uint32Array, trainCount: number, fraction: number | undefined, seed: number): (row: number) => boolean {
  if (fraction === undefined) return (row) => rows[row] >= trainCount;
  const test = new Set(splitRows(count, fraction, seed).test);
  return (row) => test.has(row);
}

function joined(a: PartyTable, b: PartyTable): PartyTable {
  return {
    ids: [...a.ids, ...b.ids],
    featureNames: a.featureNames,
    categories: a.categories ?? {}, // of the same book as b's
    monotone: a.monotone ?? {},
    features: a.features.map((values, i) => concatenated(values, b.features[i])),
    labels: a.labels === null || b.labels === null ? null : Float64Array.from([...a.labels, ...b.labels]),
    weights: a.weights && b.weights ? Float64Array.from([...a.weights, ...b.weights]) : null,
  };
}

function concatenated(a: Float32Array, b: Float32Array): Float32Array {
  const all = new Float32Array(a.length + b.length);
  all.set(a);
  all.set(b, a.length);
  return all;
}
