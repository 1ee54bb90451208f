/**
 * Confidence intervals by the bootstrap: rows are drawn again with replacement, from each class as many as it has, and
 * the interval holds the middle 95% of the statistic. Draws are seeded, so that the same rows give the same interval.
 *
 * The cost is bounded: of more than `unitsMax` rows a random part is drawn from, and the deviations that it shows are
 * made smaller by the root of the part (the m-out-of-n bootstrap).
 */
import { SeededRandom } from "../../base/random.ts";
import { isSliceOver, nextSlice } from "../../base/scheduling/event-loop-slice.ts";

/** Statistics of rows, or of groups of rows, that can be computed again for another number of copies of each. */
export interface Resampled<N extends string = string> {
  readonly names: readonly N[];
  /** Rows or groups. */
  readonly units: number;
  /** Per unit the stratum that it is drawn from; null: all are drawn from together. */
  readonly strata: ArrayLike<number> | null;
  /** @param copies per unit how often it counts; null: once */
  of(copies: Float64Array | null): readonly number[];
}

export interface Estimate {
  readonly name: string;
  readonly value: number | null;
  /** Null where there is no interval. */
  readonly low: number | null;
  readonly high: number | null;
}

export interface BootstrapTerms {
  readonly resamples: number;
  readonly unitsMax: number;
  readonly seed: string;
}

export const usualBootstrap: BootstrapTerms = { resamples: 500, unitsMax: 50_000, seed: "evaluation" };
/** The middle part of the resamples. */
export const intervalLevel = 0.95;
/** Of fewer units an interval says nothing. */
const unitsMin = 20;

/** The statistics of all units, without intervals. */
export function estimates({ names, of }: Pick<Resampled, "names" | "of">): Estimate[] {
  const values = of(null);
  return names.map((name, i) => ({ name, value: finiteOrNull(values[i]), low: null, high: null }));
}

export async function bootstrapped(
  statistics: Resampled,
  { resamples, unitsMax, seed }: BootstrapTerms = usualBootstrap,
): Promise<Estimate[]> {
  const { names, units, of } = statistics;
  if (units < unitsMin) return estimates(statistics);
  const random = new SeededRandom(seed);
  const strata = drawnStrata(statistics, unitsMax, random);
  const drawn = strata.reduce((sum, { length }) => sum + length, 0);
  const copies = new Float64Array(units);
  const whole = of(null);
  for (const members of strata) for (const unit of members) copies[unit] = 1;
  const centre = drawn === units ? whole : of(copies);
  const shrink = Math.sqrt(drawn / units);
  const samples = names.map(() => new Float64Array(resamples));
  for (let sample = 0; sample < resamples; sample++) {
    if (isSliceOver()) await nextSlice();
    copies.fill(0);
    for (const members of strata)
      for (let left = members.length; left > 0; left--) copies[members[random.below(members.length)]]++;
    of(copies).forEach((value, i) => (samples[i][sample] = whole[i] + shrink * (value - centre[i])));
  }
  return names.map((name, i) => ({ name, value: finiteOrNull(whole[i]), ...middleOf(samples[i]) }));
}

/** The units that are drawn from, per stratum. */
function drawnStrata({ units, strata }: Resampled, unitsMax: number, random: SeededRandom): Uint32Array[] {
  const members = new Map<number, number[]>();
  for (let unit = 0; unit < units; unit++) {
    const stratum = strata?.[unit] ?? 0;
    const of = members.get(stratum);
    if (of === undefined) members.set(stratum, [unit]);
    else of.push(unit);
  }
  const part = Math.min(1, unitsMax / units);
  return [...members.values()].map((of) => {
    const all = Uint32Array.from(of);
    if (part === 1) return all;
    const kept = Math.max(1, Math.round(part * all.length));
    return random
      .permutation(all.length)
      .subarray(0, kept)
      .map((place) => all[place]);
  });
}

function middleOf(samples: Float64Array): Pick<Estimate, "low" | "high"> {
  if (samples.some((value) => !Number.isFinite(value))) return { low: null, high: null };
  const sorted = samples.toSorted();
  const tail = (1 - intervalLevel) / 2;
  return { low: quantileOf(sorted, tail), high: quantileOf(sorted, 1 - tail) };
}

/** Linear between neighbours, as numpy's. @param sorted ascending */
export function quantileOf(sorted: ArrayLike<number>, level: number): number {
  const at = level * (sorted.length - 1);
  const below = Math.floor(at);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below] + (at - below) * (sorted[above] - sorted[below]);
}

/** JSON has no NaN. */
export function finiteOrNull(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

/** The difference of two statistics of the same units, resampled together. */
export function differenceOf(first: Resampled, second: Resampled, sign: 1 | -1): Resampled {
  return {
    names: first.names,
    units: first.units,
    strata: first.strata,
    of(copies) {
      const subtracted = second.of(copies);
      return first.of(copies).map((value, i) => sign * (value - subtracted[i]) + 0); // no -0, which JSON has not
    },
  };
}
