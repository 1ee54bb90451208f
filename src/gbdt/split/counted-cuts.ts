/**
 * Cuts of a long column by counting (value-counts.ts): the same as binning.ts finds by sorting. For a rank XGBoost's
 * summary keeps the first value whose own ranks exceed it: the one at that position of the sorted column.
 */
import { rowsWhere } from "../../base/rows/row-numbers.ts";
import { halfCount, LowerCounts, UpperCounts, upperBounds } from "./value-counts.ts";

/** What cuts are made from. */
export interface ColumnSummary {
  readonly rowCount: number;
  readonly presentCount: number;
  /** NaN for a column without values. */
  readonly smallest: number;
  /** At most `sizeMax` values, ascending: all of them, or those nearest to equal steps of rank. */
  readonly values: Float32Array;
}

/** The parts of a column; may be iterated several times. */
export type ColumnParts = () => Iterable<Float32Array>;

/** @param sizeMax 2 or more */
export function countedSummary(parts: ColumnParts, sizeMax: number): ColumnSummary {
  const first = new UpperCounts();
  for (const values of parts()) first.add(values);
  const { rowCount, presentCount, smallest } = first;
  if (presentCount === 0) return { rowCount, presentCount, smallest: NaN, values: new Float32Array(0) };
  const places = wantedPlaces(first, sizeMax);
  const all = rowsWhere(halfCount, (upper) => first.counts[upper] > 0);
  // With fewer halves than this there may be few values, all of which are needed.
  const mayBeFew = all.length <= sizeMax;
  const second = new LowerCounts(first, mayBeFew ? [...all] : upperBounds(first, places));
  for (const values of parts()) second.add(values);
  const few = mayBeFew ? firstOf(second.distinct(), sizeMax + 1) : [];
  const values = mayBeFew && few.length <= sizeMax ? few : kept(first, second.at(places));
  return { rowCount, presentCount, smallest: smallest + 0, values: Float32Array.from(values) };
}

/** Positions in the sorted column of what WQSummary::SetPrune keeps besides the first and the last value. */
function wantedPlaces({ presentCount, smallestCount, largestCount }: UpperCounts, sizeMax: number): number[] {
  const range = Math.fround(presentCount - largestCount - smallestCount);
  const steps = sizeMax - 1;
  return Array.from({ length: steps - 1 }, (_, i) => {
    const rank = Math.fround(Math.fround(Math.fround((i + 1) * range) / steps) + smallestCount);
    return Math.min(presentCount - 1, Math.floor(rank));
  });
}

function kept({ smallest, largest }: UpperCounts, between: Iterable<number>): number[] {
  const values = [smallest + 0];
  for (const value of [...between, largest + 0]) if (value !== values[values.length - 1]) values.push(value);
  return values;
}

function firstOf(values: Iterable<number>, countMax: number): number[] {
  const first: number[] = [];
  for (const value of values) {
    if (first.length === countMax) break;
    first.push(value);
  }
  return first;
}
