/**
 * The categories of one feature of a passive party, as they appear in an answer: consecutive candidates, without the
 * feature's name. The active party sorts them by the leaf weight of each category and searches for the best set
 * (gbdt/split/category-partition.ts); a passive party cannot, because it does not see the sums.
 *
 * @reveals active: where sets of categories are split, which candidates belong to one feature: how many categories it
 *   has, how many people of a node are in each, and which one is for missing values
 * @reveals passive: of a set of categories that wins, that each of them alone would have a lower leaf weight in the
 *   node than the other categories
 */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { TandemError } from "../../base/error.ts";
import type { CategoryCandidate } from "../../gbdt/split/candidate.ts";
import type { CategoryRows } from "../../gbdt/split/category-partition.ts";
import { addRow, subtractRows } from "../../gbdt/split/histogram.ts";
import type {
  CategoryGroup as CategoryGroupMessage,
  CategorySet as CategorySetMessage,
  CategoryGroupSchema,
} from "../../wire/generated/tandem/v1/tandem_pb.ts";

export interface CategoryGroup {
  /** The number of candidates: the categories, and the missing values last if there are any. */
  readonly size: number;
  readonly hasMissing: boolean;
  /** The index of the candidate that is summed over the complement instead; -1: none. */
  readonly flipped: number;
  /** Per candidate its piece at a node: a set has all categories of a piece, or none. Left out: each is one. */
  readonly pieces?: readonly number[];
}

/** The set of categories of a group that splits a node best. */
export interface CategorySet extends CategoryCandidate {
  readonly group: number;
}

export function groupMessages(
  groups: readonly CategoryGroup[],
): (MessageInitShape<typeof CategoryGroupSchema> & CategoryGroup)[] {
  return groups.map(({ size, hasMissing, flipped, pieces = [] }) => ({
    size,
    hasMissing,
    flipped: flipped + 1,
    pieces: [...pieces],
  }));
}

/** @throws TandemError PROTOCOL_STATE for invalid groups, or groups larger than the answer */
export function groupsFrom(messages: readonly CategoryGroupMessage[], candidateCount: number): CategoryGroup[] {
  const groups = messages.map(({ size, hasMissing, flipped, pieces }): CategoryGroup => {
    const group = { size, hasMissing, flipped: flipped - 1 };
    return pieces.length === 0 ? group : { ...group, pieces };
  });
  const isPossible = groups.every(
    ({ size, hasMissing, flipped, pieces }) =>
      size >= (hasMissing ? 3 : 2) && flipped < size && (pieces === undefined || pieces.length === size),
  );
  if (!isPossible || groupedCount(groups) > candidateCount)
    throw new TandemError("PROTOCOL_STATE", "category groups do not match the candidates");
  return groups;
}

/** How many candidates, from the first on, belong to category groups. */
export function groupedCount(groups: readonly CategoryGroup[]): number {
  return groups.reduce((sum, { size }) => sum + size, 0);
}

/** Whether they are of the same features; pieces may differ. */
export function sameGroups(a: readonly CategoryGroup[], b: readonly CategoryGroup[]): boolean {
  return (
    a.length === b.length &&
    a.every(
      ({ size, hasMissing, flipped }, i) =>
        size === b[i].size && hasMissing === b[i].hasMissing && flipped === b[i].flipped,
    )
  );
}

/** Each category's own row, from the candidates of a node. @param totals the node's row */
export function categoryRows(
  { size, hasMissing, flipped, pieces }: CategoryGroup,
  first: number,
  sides: { readonly rows: Float64Array; readonly suppressed: Uint8Array },
  totals: Float64Array,
): CategoryRows {
  const stride = totals.length;
  const rows = sides.rows.slice(first * stride, (first + size) * stride);
  const suppressed = sides.suppressed.subarray(first, first + size);
  if (flipped >= 0 && suppressed[flipped] === 0)
    rows.set(subtractRows(totals, rows.slice(flipped * stride, (flipped + 1) * stride)), flipped * stride);
  return { rows, hasMissing, suppressed, pieces: pieces ?? null };
}

/** Per group the sum of its categories' rows, and which of them are suppressed. @param totals the node's row */
export function* categorySums(
  sides: Parameters<typeof categoryRows>[2] & { readonly groups: readonly CategoryGroup[] },
  totals: Float64Array,
): Generator<{ readonly sum: Float64Array; readonly suppressed: Uint8Array }> {
  const stride = totals.length;
  let first = 0;
  for (const group of sides.groups) {
    const { rows, suppressed } = categoryRows(group, first, sides, totals);
    first += group.size;
    const sum = new Float64Array(stride);
    for (let row = 0; row < rows.length; row += stride) addRow(sum, rows.subarray(row, row + stride));
    yield { sum, suppressed };
  }
}

export function setMessage({ group, categories, missingLeft }: CategorySet) {
  return { group, categories: [...categories], missingLeft };
}

/**
 * The category set that a decision names, if it splits the group.
 * @param isSuppressed whether an index of the group is suppressed at the node
 * @throws TandemError PROTOCOL_STATE
 */
export function setFrom(
  { categories, missingLeft }: CategorySetMessage,
  { size, hasMissing, pieces }: CategoryGroup,
  isSuppressed: (place: number) => boolean,
): CategoryCandidate {
  const categoryCount = size - (hasMissing ? 1 : 0);
  const right = hasMissing && !missingLeft ? [...categories, categoryCount] : categories;
  const ascends = categories.every(
    (category, i) => category < categoryCount && (i === 0 || category > categories[i - 1]),
  );
  if (categories.length === 0 || !ascends || right.length === size)
    throw new TandemError("PROTOCOL_STATE", "the category set does not split the node");
  if (right.some(isSuppressed))
    throw new TandemError("PROTOCOL_STATE", "the category set contains a suppressed category");
  if (pieces !== undefined && right.some((a) => pieces.some((piece, b) => piece === pieces[a] && !right.includes(b))))
    throw new TandemError(
      "PROTOCOL_STATE",
      "the category set divides a piece, and would reveal more than outcome_bits",
    );
  return { categories, missingLeft };
}
