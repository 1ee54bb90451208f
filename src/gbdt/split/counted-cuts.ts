/**
 * Cuts of a long column by counting (value-counts.ts): the same as binning.ts finds by sorting. For a rank XGBoost's
 * summary keeps the first value whose own ranks exceed it: the one at that position of the sorted column.
 */
import { type ColumnLoops, columnLoops, fromSortKey } from "./column-loops.ts";
import { LowerCounts, type Prefix, UpperCounts } from "./value-counts.ts";

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
export function countedSummary(parts: ColumnParts, sizeMax: number, loops: ColumnLoops = columnLoops()): ColumnSummary {
  const first = new UpperCounts(loops);
  for (const values of parts()) first.add(values);
  const { rowCount, presentCount, smallest } = first;
  if (presentCount === 0) return { rowCount, presentCount, smallest: NaN, values: new Float32Array(0) };
  const places = wantedPlaces(first, sizeMax);
  const fewUppers = unlessMany(first.prefixes(null), sizeMax);
  const second = new LowerCounts(loops, fewUppers ?? first.prefixes(places));
  for (const values of parts()) second.add(values);
  const fewMiddles = fewUppers && unlessMany(second.prefixes(null), sizeMax);
  const third = new LowerCounts(loops, fewMiddles ?? second.prefixes(places), second);
  for (const values of parts()) third.add(values);
  const few = fewMiddles && unlessMany(third.prefixes(null), sizeMax);
  const values = few ? few.map(valueOf) : kept(first, third.prefixes(places).map(valueOf));
  return { rowCount, presentCount, smallest: smallest + 0, values: Float32Array.from(values) };
}

/** Where there are few values, all of them are needed: with more prefixes than this there are not. */
function unlessMany(prefixes: readonly Prefix[], countMax: number): readonly Prefix[] | null {
  return prefixes.length <= countMax ? prefixes : null;
}

function valueOf({ bits }: Prefix): number {
  return fromSortKey(bits);
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

function kept({ smallest, largest }: UpperCounts, between: readonly number[]): number[] {
  const values = [smallest + 0];
  for (const value of [...between, largest + 0]) if (value !== values[values.length - 1]) values.push(value);
  return values;
}
