/**
 * How a quantity is distributed over the people of a training, as a reference for a stability index: about ten bins of
 * numbers, or the categories of a column, each with its count. Small bins are joined with a neighbour, since a bin of
 * few people moves by chance.
 */
import { binCounts, binOf, quantileBounds } from "./stability-index.ts";

export interface NumberBins {
  /** Bins are below the first, ..., from the last on, and missing. */
  readonly bounds: readonly number[];
  readonly counts: readonly number[];
}

export interface CategoryBins {
  /** A bin each, then all other categories, and missing. */
  readonly categories: readonly string[];
  readonly counts: readonly number[];
}

export type Distribution = NumberBins | CategoryBins;

/** Smaller bins are joined. */
const shareMin = 0.02;
/** Evenly spread rows of larger tables stand for all. */
const rowsMax = 200_000;

export function numberBins(values: ArrayLike<number>): NumberBins {
  const some = sampled(values);
  let bounds = quantileBounds(some);
  for (;;) {
    const counts = binCounts(some, bounds);
    const small = bounds.findIndex((_, bin) => counts[bin] < shareMin * some.length);
    const last = bounds.length > 0 && counts[bounds.length] < shareMin * some.length ? bounds.length - 1 : -1;
    const dropped = small === -1 ? last : small;
    if (dropped === -1) return { bounds, counts: [...counts] };
    bounds = bounds.filter((_, i) => i !== dropped);
  }
}

/**
 * @param codes into names; beyond them: another category
 * @param known those that may have a bin
 */
export function categoryBins(
  codes: ArrayLike<number>,
  names: readonly string[],
  known: readonly string[],
): CategoryBins {
  const some = sampled(codes);
  const counted = (categories: readonly string[]): number[] => {
    const binOfCode = categoryBinner({ categories }, names);
    const counts = Array.from({ length: categories.length + 2 }, () => 0);
    for (const code of some) counts[binOfCode(code)]++;
    return counts;
  };
  const all = counted(known);
  const categories = known.filter((_, i) => all[i] >= shareMin * some.length);
  return { categories, counts: counted(categories) };
}

/** The bin of a value. @param names of codes, where the distribution is of categories */
export function binner(of: Distribution, names: readonly string[] | null): (value: number) => number {
  if ("bounds" in of) return (value) => binOf(value, of.bounds);
  return categoryBinner(of, names ?? []);
}

function categoryBinner({ categories }: Pick<CategoryBins, "categories">, names: readonly string[]) {
  const other = categories.length;
  const places = new Map(categories.map((name, i) => [name, i]));
  const bins = Int32Array.from(names, (name) => places.get(name) ?? other);
  return (code: number): number => (Number.isNaN(code) ? other + 1 : (bins[code] ?? other));
}

function sampled(values: ArrayLike<number>): Float64Array {
  const step = Math.ceil(values.length / rowsMax) || 1;
  return Float64Array.from({ length: Math.ceil(values.length / step) }, (_, i) => values[i * step]);
}
