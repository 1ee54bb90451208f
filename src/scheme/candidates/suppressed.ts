/**
 * Candidates that a passive party suppresses (gbdt/split/offered-candidates.ts) keep their position in an answer, with
 * count 0 and an encryption of zero; a bitmap marks them, for the node and its sibling. The count alone would not
 * suffice: the sum over an empty side is valid and is subtracted from the parent's.
 */
import { TandemError } from "../../base/error.ts";
import { subtractRows } from "../../gbdt/split/histogram.ts";
import { bitmapFrom, checkBitmap, isSet } from "../../wire/bitmap.ts";
import { sameGroups } from "./category-group.ts";
import type { CandidateRows } from "./candidate-rows.ts";

/** @param suppressed per candidate of a piece 1 if it is suppressed */
export function suppressedBitmap(suppressed: Uint8Array): Uint8Array {
  return suppressed.includes(1) ? bitmapFrom(suppressed.length, (i) => suppressed[i] === 1) : new Uint8Array(0);
}

/** @throws TandemError PROTOCOL_STATE for a bitmap of a wrong length, or a suppressed candidate with a count */
export function suppressedFrom(bitmap: Uint8Array, counts: readonly number[]): Uint8Array {
  const suppressed = new Uint8Array(counts.length);
  if (bitmap.length === 0) return suppressed;
  checkBitmap(bitmap, counts.length);
  counts.forEach((count, i) => {
    if (!isSet(bitmap, i)) return;
    if (count !== 0) throw new TandemError("PROTOCOL_STATE", "a suppressed candidate has a count");
    suppressed[i] = 1;
  });
  return suppressed;
}

/**
 * The sibling's candidates: the parent's minus the child's, except for suppressed ones, whose rows are zero at both.
 * @throws TandemError PROTOCOL_STATE if the answers do not match
 */
export function siblingRows(parent: CandidateRows, child: CandidateRows, party: string): CandidateRows {
  if (parent.rows.length !== child.rows.length)
    throw new TandemError(
      "PROTOCOL_STATE",
      `party ${party} sent a different number of candidates for a node than for its parent`,
    );
  const { lowerSides, suppressed, groups } = child;
  if (!sameGroups(parent.groups, groups))
    throw new TandemError(
      "PROTOCOL_STATE",
      `party ${party} sent different category groups for a node than for its parent`,
    );
  if (parent.suppressed.some((isSuppressed, i) => isSuppressed > suppressed[i]))
    throw new TandemError(
      "PROTOCOL_STATE",
      `party ${party} sent a candidate for a node that it suppresses at its parent`,
    );
  const rows = subtractRows(parent.rows, child.rows);
  const stride = rows.length / suppressed.length;
  suppressed.forEach((isSuppressed, i) => {
    if (isSuppressed === 1) rows.fill(0, i * stride, (i + 1) * stride);
  });
  return { rows, lowerSides, suppressed, groups };
}
