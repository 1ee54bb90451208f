/**
 * The passive half of a scoring round: the outcome of each own split for each requested id.
 *
 * @reveals active: later, for every person scored: the outcome of each of the party's splits, also off the path;
 *   which of the ids asked for the party holds; where unknown ids are scored as missing, the default direction of each
 *   of its splits
 */
import { isSliceOver, nextSlice } from "../../base/scheduling/event-loop-slice.ts";
import { type CategoryNames, columnOutcomes } from "../../gbdt/split/split-test.ts";
import { bitmapFrom } from "../../wire/bitmap.ts";
import type { OwnSplit } from "./role.ts";

/** A split, and the column of the party's table that it tests. */
export interface SplitColumn {
  readonly split: OwnSplit;
  readonly values: Float32Array;
  /** Category names if the values are category codes; left out for numbers. */
  readonly names?: CategoryNames;
}

/** The row of an id that the party does not hold. */
export const unknownRow = -1;

/** Outcomes between two checks of the clock: about 0.1 ms. */
const outcomesPerLook = 1 << 14;

/** The order of outcomes in messages: both parties know it, so splits are not named. */
export function bySplitOrder(a: Pick<OwnSplit, "tree" | "node">, b: Pick<OwnSplit, "tree" | "node">): number {
  return a.tree - b.tree || a.node - b.node;
}

export interface SplitOutcomes {
  readonly known: Uint8Array;
  readonly left: Uint8Array;
}

/**
 * Yields to the event loop in long requests: the party may be training meanwhile.
 * @param splits in split order
 * @param rows the row of each id, or unknownRow
 */
export async function splitOutcomes(
  splits: readonly SplitColumn[],
  rows: Int32Array,
  unknownAsMissing: boolean,
): Promise<SplitOutcomes> {
  const left = new Uint8Array(Math.ceil((splits.length * rows.length) / 8));
  const asked = new Float32Array(rows.length);
  const outcomes = new Uint8Array(rows.length);
  const unknown = [...rows.keys()].filter((i) => rows[i] === unknownRow);
  let position = 0;
  let nextLook = outcomesPerLook;
  for (const { split, values, names = null } of splits) {
    for (let i = 0; i < rows.length; i++) asked[i] = rows[i] === unknownRow ? Number.NaN : values[rows[i]];
    columnOutcomes(split, { values: asked, names }, 0, outcomes);
    if (!unknownAsMissing) for (const i of unknown) outcomes[i] = 0;
    for (let i = 0; i < rows.length; i++, position++) left[position >>> 3] |= outcomes[i] << (position & 7);
    if (position >= nextLook) {
      nextLook = position + outcomesPerLook;
      if (isSliceOver()) await nextSlice();
    }
  }
  return { known: bitmapFrom(rows.length, (i) => rows[i] !== unknownRow), left };
}
