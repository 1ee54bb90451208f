/**
 * Splits of a categorical feature into two sets of categories, found as XGBoost 1.7 finds them
 * (src/tree/hist/evaluate_splits.h, EnumeratePart): categories in the order of the leaf weight that each would have
 * alone, the lower code first on a tie, and cuts of that order: the first `max_cat_threshold` from the front, then as
 * many from the back. The categories before the cut go right. Missing values go left with the cuts from the front, and
 * right with those from the back, whether there are any or not. The first of equal gains counts.
 *
 * The search is a function of one row per category. In centralised training that is a histogram; for another party's
 * feature it is the sums that the active party has decrypted, without names.
 *
 * A party may suppress categories with few instances (gbdt/split/offered-categories.ts). They are in no set: they stay
 * left, as unknown categories do. Where what splits reveal is limited, sets may have to be unions of pieces
 * (gbdt/split/bit-places.ts): then the search is over pieces in place of categories, each with the sums of its
 * categories, by lowest code on a tie. The piece that has the missing values is in place of these.
 */
import type { CategoryCandidate } from "./candidate.ts";
import { type TreeGain, unbounded, type WeightBounds } from "./gain.ts";
import { addRow } from "./histogram.ts";
import { selectBest } from "./select-best.ts";

export interface CategoryRows {
  /** One row (slot sums, count) per category, and one more for the missing values if there are any. */
  readonly rows: Float64Array;
  readonly hasMissing: boolean;
  /** Per row 1 if it is suppressed and must be ignored. */
  readonly suppressed: Uint8Array;
  /** Per row its piece: a set has all categories of a piece, or none. Left out: each row is one. */
  readonly pieces?: ArrayLike<number> | null;
}

export interface PartitionSplit {
  readonly gain: number;
  readonly candidate: CategoryCandidate;
  /** The sums and the count of the right side. */
  readonly right: Float64Array;
}

/** @param draws of noise in each category's row @returns null if no set is allowed */
export function bestPartition(
  categories: CategoryRows,
  totals: Float64Array,
  gain: TreeGain,
  bounds: WeightBounds = unbounded,
  draws = 0,
): PartitionSplit | null {
  const { rows, hasMissing, suppressed, members } = joinedPieces(categories, totals.length);
  const stride = totals.length;
  const rowOf = (place: number): Float64Array => rows.subarray(place * stride, (place + 1) * stride);
  const categoryCount = suppressed.length - (hasMissing ? 1 : 0);
  const order = sortedCategories(categoryCount, suppressed, (category) =>
    Math.fround(gain.weights(rowOf(category))[0]),
  );
  // Suppressed categories come after the last one: all others together can be split off from them.
  const length = order.length + (suppressed.includes(1) ? 1 : 0);
  const cutsMax = Math.min(gain.maxCatThreshold, length) - 1;
  const missing = hasMissing && suppressed[categoryCount] === 0 ? rowOf(categoryCount) : null;
  const isMissingSuppressed = hasMissing && missing === null;
  const cuts = Array.from({ length: Math.max(0, cutsMax) }, (_, i) => i + 1);
  const tried = [
    ...cuts.map((cut) => ({ cut, missingLeft: true })),
    ...cuts.map((cut) => ({ cut: length - cut, missingLeft: isMissingSuppressed })),
  ];
  // Categories in one piece with the missing values may be split off from all others.
  if (missing !== null && members[categoryCount].length > 1 && order.length > 0 && length === order.length)
    tried.push({ cut: length, missingLeft: true });
  if (tried.length === 0) return null;

  const prefixes = prefixRows(order.map(rowOf), stride);
  const sides = new Float64Array(tried.length * stride);
  const drawn = new Float64Array(tried.length);
  tried.forEach(({ cut, missingLeft }, i) => {
    const side = sides.subarray(i * stride, (i + 1) * stride);
    side.set(prefixes[cut]);
    const takesMissing = !missingLeft && missing !== null;
    if (takesMissing) addRow(side, missing);
    const places = takesMissing ? [...order.slice(0, cut), categoryCount] : order.slice(0, cut);
    drawn[i] = draws * places.reduce((sum, place) => sum + members[place].length, 0);
  });
  const best = selectBest(gain.gains(sides, totals, bounds, 0, drawn));
  if (best.indices.length === 0) return null;
  const [first] = best.indices;
  const { cut, missingLeft } = tried[first];
  const places = missingLeft || missing === null ? order.slice(0, cut) : [...order.slice(0, cut), categoryCount];
  const inSet = places.flatMap((place) => members[place]).filter((place) => place < countOf(categories));
  const right = sides.slice(first * stride, (first + 1) * stride);
  return { gain: best.gain, candidate: { categories: inSet.sort((a, b) => a - b), missingLeft }, right };
}

/** Without missing values. */
function countOf({ suppressed, hasMissing }: CategoryRows): number {
  return suppressed.length - (hasMissing ? 1 : 0);
}

/** One row per piece, that of the missing values last, and the categories of each. */
function joinedPieces(
  { rows, hasMissing, suppressed, pieces = null }: CategoryRows,
  stride: number,
): CategoryRows & { readonly members: readonly (readonly number[])[] } {
  const places = Array.from(suppressed.keys());
  if (pieces === null) return { rows, hasMissing, suppressed, members: places.map((place) => [place]) };
  const byPiece = new Map<number, number[]>();
  for (const place of places) byPiece.set(pieces[place], [...(byPiece.get(pieces[place]) ?? []), place]);
  const last = hasMissing ? pieces[suppressed.length - 1] : -1;
  const members = [...byPiece].filter(([piece]) => piece !== last).map(([, of]) => of);
  if (hasMissing) members.push(byPiece.get(last) ?? []);
  const joined = new Float64Array(members.length * stride);
  members.forEach((of, i) => {
    for (const place of of)
      addRow(joined.subarray(i * stride, (i + 1) * stride), rows.subarray(place * stride, (place + 1) * stride));
  });
  const isSuppressed = Uint8Array.from(members, (of) => (of.some((place) => suppressed[place] === 1) ? 1 : 0));
  return { rows: joined, hasMissing, suppressed: isSuppressed, members };
}

/** XGBoost compares these weights in float32, and its sort is stable. */
function sortedCategories(
  categoryCount: number,
  suppressed: Uint8Array,
  weightOf: (category: number) => number,
): number[] {
  const offered = Array.from({ length: categoryCount }, (_, category) => category).filter(
    (category) => suppressed[category] === 0,
  );
  const weights = new Map(offered.map((category) => [category, weightOf(category)]));
  return offered.sort((a, b) => (weights.get(a) ?? 0) - (weights.get(b) ?? 0) || a - b);
}

/** prefixes[k] is the sum of the first k rows. */
function prefixRows(rows: readonly Float64Array[], stride: number): Float64Array[] {
  const sum = new Float64Array(stride);
  return [sum.slice(), ...rows.map((row) => (addRow(sum, row), sum.slice()))];
}
