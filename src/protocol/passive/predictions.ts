/**
 * Outcomes of a passive party's splits for the requested rows, within a job.
 *
 * @reveals active: at the end of the job, for the test rows: the outcome of each of the party's splits, also off the
 *   path; where training continues an earlier model, the outcome of each of its splits of that model for each
 *   instance of the job
 */
import { TandemError } from "../../base/error.ts";
import { columnTest } from "../../gbdt/split/split-test.ts";
import type { RowOutcomes } from "../../scheme/masked/masked-answerer.ts";
import { bitmapFrom } from "../../wire/bitmap.ts";
import type { OwnSplit } from "./answered-splits.ts";
import type { PassiveJob } from "./job.ts";
import { bySplitOrder } from "./split-outcomes.ts";
import type { RowValues } from "./test-rows.ts";

/** The outcome of one split for the requested rows. */
export interface Outcome {
  readonly tree: number;
  readonly node: number;
  readonly goesLeft: (row: number) => boolean;
}

/** The message: a bitmap over the rows. */
export function outcomeMessage({ tree, node, goesLeft }: Outcome, rowCount: number) {
  return { tree, node, leftMembers: bitmapFrom(rowCount, goesLeft) };
}

/** Outcomes of all splits in one bitmap, split by split in the order of (tree, node), as masked scoring takes them. */
export function joinedOutcomes(outcomes: Iterable<Outcome>, rowCount: number): RowOutcomes {
  const ordered = [...outcomes].toSorted(bySplitOrder);
  const left = bitmapFrom(ordered.length * rowCount, (at) =>
    ordered[Math.floor(at / rowCount)].goesLeft(at % rowCount),
  );
  return { rowCount, left, known: new Uint8Array(0) };
}

/** Outcomes of the job's own splits. */
export function* outcomesOfRows(
  { categoryNames }: PassiveJob,
  rows: readonly RowValues[],
  splits: readonly OwnSplit[],
): Generator<Outcome> {
  for (const split of splits) {
    const { tree, node, feature } = split;
    const goesLeft = columnTest(split, categoryNames?.[feature] ?? null);
    yield { tree, node, goesLeft: (i) => goesLeft(rows[i](feature)) };
  }
}

/**
 * Outcomes of the splits of a start model, over instances of the job. @throws TandemError PROTOCOL_STATE without one
 */
export function* outcomesOfInstances({ start }: PassiveJob, first = 0): Generator<Outcome> {
  if (start === undefined) throw new TandemError("PROTOCOL_STATE", "this job has no start model");
  for (const { split, values, names = null } of start) {
    const goesLeft = columnTest(split, names);
    yield { tree: split.tree, node: split.node, goesLeft: (i) => goesLeft(values[first + i]) };
  }
}
