/**
 * Candidates that a passive party withholds (gbdt/split/offered-candidates.ts) keep their position in an answer, with
 * count 0 and an encryption of zero; a bitmap marks them, for the node and its sibling. The count alone would not
 * suffice: the sum over an empty side is valid and is subtracted from the parent's.
 */
import { TandemError } from "../../base/error.ts";
import { subtractRows } from "../../gbdt/split/histogram.ts";
import { bitmapFrom, checkBitmap, isSet } from "../../wire/bitmap.ts";
import { sameGroups } from "./category-group.ts";
import type { CandidateRows } from "./candidate-rows.ts";

/** @param withheld per candidate of a piece 1 if it is withheld */
export function withheldBitmap(withheld: Uint8Array): Uint8Array {
  return withheld.includes(1) ? bitmapFrom(withheld.length, (i) => withheld[i] === 1) : new Uint8Array(0);
}

/** @throws TandemError PROTOCOL_STATE for a bitmap of a wrong length, or a withheld candidate with a count */
export function withheldFrom(bitmap: Uint8Array, counts: readonly number[]): Uint8Array {
  const withheld = new Uint8Array(counts.length);
  if (bitmap.length === 0) return withheld;
  checkBitmap(bitmap, counts.length);
  counts.forEach((count, i) => {
    if (!isSet(bitmap, i)) return;
    if (count !== 0) throw new TandemError("PROTOCOL_STATE", "a withheld candidate has a count");
    withheld[i] = 1;
  });
  return withheld;
}

/**
 * The sibling's candidates: the parent's minus the child's, except for withheld ones, whose rows are zero at both.
 * @throws TandemError PROTOCOL_STATE if the answers do not match
 */
export function siblingRows(parent: CandidateRows, child: CandidateRows, party: string): CandidateRows {
  if (parent.rows.length !== child.rows.length)
    throw new TandemError(
      "PROTOCOL_STATE",
      `party ${party} sent a different number of candidates for a node than for its parent`,
    );
  const { lowerSides, withheld, groups } = child;
  if (!sameGroups(parent.groups, groups))
    throw new TandemError(
      "PROTOCOL_STATE",
      `party ${party} sent different category groups for a node than for its parent`,
    );
  if (parent.withheld.some((isWithheld, i) => isWithheld > withheld[i]))
    throw new TandemError(
      "PROTOCOL_STATE",
      `party ${party} sent a candidate for a node that it withholds at its parent`,
    );
  const rows = subtractRows(parent.rows, child.rows);
  const stride = rows.length / withheld.length;
  withheld.forEach((isWithheld, i) => {
    if (isWithheld === 1) rows.fill(0, i * stride, (i + 1) * stride);
  });
  return { rows, lowerSides, withheld, groups };
}
