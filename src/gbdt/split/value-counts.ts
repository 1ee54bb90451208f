/**
 * Exact order statistics of float32 values by counting, without sorting or copying. A first pass counts the first 16
 * bits of all values' keys (column-loops.ts), a second one the next 8 of those near a wanted rank, a third one the last
 * 8. Counts of parts of a column add up, so the number of parts does not matter.
 */
import { assert } from "../../base/assert.ts";
import { type ColumnLoops, lowerCount, range, upperCount } from "./column-loops.ts";

/** The first bits of some keys. */
export interface Prefix {
  readonly bits: number;
  /** The number of values below all those that begin with them. */
  readonly below: number;
}

/** The first pass. */
export class UpperCounts {
  readonly #loops: ColumnLoops;
  readonly #counts = new Uint32Array(upperCount);
  readonly #range = Float64Array.of(0, Infinity, 0, -Infinity, 0);
  rowCount = 0;

  constructor(loops: ColumnLoops) {
    this.#loops = loops;
  }

  /** Rows that have a value. */
  get presentCount(): number {
    return this.#range[range.presentCount];
  }

  get smallest(): number {
    return this.#range[range.smallest];
  }

  get smallestCount(): number {
    return this.#range[range.smallestCount];
  }

  get largest(): number {
    return this.#range[range.largest];
  }

  get largestCount(): number {
    return this.#range[range.largestCount];
  }

  /** @param values NaN where one is missing, otherwise finite */
  add(values: Float32Array): void {
    this.#loops.countUpper(values, this.#counts, this.#range);
    assert(this.smallest !== -Infinity && this.largest !== Infinity, "a feature value is infinite");
    this.rowCount += values.length;
  }

  /** As LowerCounts.prefixes. */
  prefixes(places: readonly number[] | null): Prefix[] {
    return occupied([{ bits: 0, below: 0 }], this.#counts, upperCount, places);
  }
}

/** The second or third pass: counts by the 8 bits that follow the prefixes of the one before. */
export class LowerCounts {
  readonly #loops: ColumnLoops;
  readonly #prefixes: readonly Prefix[];
  readonly #counts: Uint32Array;
  /** Per 16 bits one more than their index among the prefixes of the second pass; 0: none of them. */
  readonly #places: Uint16Array;
  /** Of the third pass: per prefix of the second and next 8 bits the same. */
  readonly #nextPlaces: Uint16Array;

  /** @param before the second pass, for the third one */
  constructor(loops: ColumnLoops, prefixes: readonly Prefix[], before: LowerCounts | null = null) {
    this.#loops = loops;
    this.#prefixes = prefixes;
    this.#counts = new Uint32Array(prefixes.length * lowerCount);
    this.#places = before === null ? new Uint16Array(upperCount) : before.#places;
    this.#nextPlaces = new Uint16Array(before === null ? 0 : before.#counts.length);
    prefixes.forEach(({ bits }, i) => {
      if (before === null) this.#places[bits] = i + 1;
      else this.#nextPlaces[(before.#places[bits >>> 8] - 1) * lowerCount + (bits & 0xff)] = i + 1;
    });
  }

  add(values: Float32Array): void {
    this.#loops.countLower(values, this.#places, this.#nextPlaces, this.#counts);
  }

  /**
   * The prefixes that values have, ascending, with these 8 bits: after the third pass they are whole keys.
   * @param places positions in the sorted column: only prefixes of values that stand there; null: all
   */
  prefixes(places: readonly number[] | null): Prefix[] {
    return occupied(this.#prefixes, this.#counts, lowerCount, places);
  }
}

/** @param places ascending */
function occupied(
  prefixes: readonly Prefix[],
  counts: Uint32Array,
  countPerPrefix: number,
  places: readonly number[] | null,
): Prefix[] {
  const found: Prefix[] = [];
  const wanted = places ?? [];
  let next = 0;
  for (const [i, prefix] of prefixes.entries()) {
    let { below } = prefix;
    for (let bits = 0; bits < countPerPrefix; bits++) {
      const end = below + counts[i * countPerPrefix + bits];
      const first = next;
      while (next < wanted.length && wanted[next] < end) next++;
      if (places === null ? end > below : next > first)
        found.push({ bits: prefix.bits * countPerPrefix + bits, below });
      below = end;
    }
  }
  assert(next === wanted.length, "every wanted place is within the prefixes");
  return found;
}
