/** The sums of a party's candidates, as the active party has them after decryption. */
import type { CategoryGroup } from "./category-group.ts";

/** A party's candidates of a node, in its secret order. */
export interface CandidateRows {
  /** One row (slot sums, count) per candidate; the count is 0 where noise hides it. */
  readonly rows: Float64Array;
  /** Monotone constraints of the sums (LowerSide); null without constraints. */
  readonly lowerSides: Int8Array | null;
  /** Per candidate 1 if the party suppresses it at the node and at its sibling: its row is zero. */
  readonly suppressed: Uint8Array;
  /** The first candidates, which are categories rather than splits, grouped by feature. */
  readonly groups: readonly CategoryGroup[];
  /** Per candidate the number that names it in a decision; left out: its position. */
  readonly names?: readonly number[];
}

export const noCandidates: CandidateRows = {
  rows: new Float64Array(0),
  lowerSides: null,
  suppressed: new Uint8Array(0),
  groups: [],
};
