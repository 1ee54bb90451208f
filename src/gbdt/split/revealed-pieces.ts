/**
 * What a party's won splits have revealed of its columns, in bits. The thresholds and category sets of all trees divide
 * a column's values into *pieces*: values that no split has separated. Whatever outcomes are known, they reveal no more
 * of a column than which piece a person is in, and that is the entropy of the pieces over the people trained on.
 *
 * A test that separates no two values of a piece costs nothing: a threshold that was used before, a union of pieces.
 * The entropy is subadditive, so tests that are decided at the same time cost at most the sum of what each costs alone.
 */
import { portableLog2 } from "../../base/portable-log2.ts";
import { binIndexCount, type BinnedFeature, totalBinCount } from "./binning.ts";
import { candidatesOf, leftBins } from "./candidate.ts";
import { type CategoryNames, columnTest, type SplitTest } from "./split-test.ts";
import type { NamedTest } from "./named-test.ts";

/** A split of a start model, whose threshold may be none of this job's, and the column that it tests. */
export interface StartTest {
  readonly test: NamedTest;
  readonly values: Float32Array;
  readonly names?: CategoryNames;
}

/** People who are in one bin of a column, and on the same sides of a start model's splits. */
interface Cell {
  readonly bin: number;
  readonly start: string;
  readonly count: number;
}

/** Per feature of a party its cells, ordered by bin. */
export class CountedColumns {
  readonly features: readonly BinnedFeature[];
  readonly cells: readonly (readonly Cell[])[];
  readonly rowCount: number;

  /** @param rows the instances that trees may be trained on */
  constructor(features: readonly BinnedFeature[], rows: Uint32Array, start: readonly StartTest[] = []) {
    this.features = features;
    this.rowCount = rows.length;
    this.cells = features.map((feature) => {
      const tests = start.filter(({ test }) => test.featureName === feature.name);
      return cellsOf(feature, rows, tests);
    });
  }
}

function cellsOf({ bins }: BinnedFeature, rows: Uint32Array, start: readonly StartTest[]): Cell[] {
  const sidesOf = sidesOfTests(start);
  const counts = new Map<number, Map<string, number>>();
  for (const row of rows) {
    const ofBin = counts.get(bins[row]) ?? new Map<string, number>();
    const side = sidesOf(row);
    counts.set(bins[row], ofBin.set(side, (ofBin.get(side) ?? 0) + 1));
  }
  return [...counts]
    .sort(([a], [b]) => a - b)
    .flatMap(([bin, ofBin]) =>
      [...ofBin].sort(([a], [b]) => (a < b ? -1 : 1)).map(([side, count]) => ({ bin, start: side, count })),
    );
}

/** Per row the side of each test, one letter each. */
function sidesOfTests(tests: readonly StartTest[]): (row: number) => string {
  const sides = tests.map(({ test, values, names = null }) => {
    const goesLeft = columnTest(test, names);
    return (row: number): string => (goesLeft(values[row]) ? "l" : "r");
  });
  return (row) => sides.map((sideOf) => sideOf(row)).join("");
}

/** What the splits of a start model reveal of the columns that they test, over the first rows of these. */
export function startBits(start: readonly StartTest[], rowCount: number): number {
  let bits = 0;
  for (const name of new Set(start.map(({ test }) => test.featureName))) {
    const sidesOf = sidesOfTests(start.filter(({ test }) => test.featureName === name));
    const counts = new Map<string, number>();
    for (let row = 0; row < rowCount; row++) {
      const side = sidesOf(row);
      counts.set(side, (counts.get(side) ?? 0) + 1);
    }
    bits += entropyOf(counts.values(), rowCount);
  }
  return bits;
}

/** In bits, of groups that add up to a number of people. */
function entropyOf(counts: Iterable<number>, total: number): number {
  if (total === 0) return 0;
  let sum = 0;
  for (const count of counts) sum += count * portableLog2(count);
  return portableLog2(total) - sum / total;
}

export class RevealedPieces {
  readonly #columns: CountedColumns;
  /** Per feature and cell its piece, numbered in the order of their first cells. */
  readonly #pieces: Uint32Array[];
  /** Per feature what each candidate would cost; null: not computed since the pieces changed. */
  readonly #costs: (Float64Array | null)[];

  constructor(columns: CountedColumns, pieces?: readonly Uint32Array[]) {
    this.#columns = columns;
    this.#pieces = pieces?.slice() ?? columns.cells.map((cells) => numbered(cells.map(({ start }) => start)));
    this.#costs = columns.cells.map(() => null);
  }

  copy(): RevealedPieces {
    return new RevealedPieces(this.#columns, this.#pieces);
  }

  add(test: NamedTest): void {
    const feature = this.#columns.features.findIndex(({ name }) => name === test.featureName);
    // A start model may have features that this job has not.
    if (feature >= 0) this.#divide(feature, testedBins(this.#columns.features[feature], test));
  }

  /** Bits revealed of all columns together. */
  get bits(): number {
    return this.#pieces.reduce((sum, _, feature) => sum + this.ofFeature(feature), 0);
  }

  ofFeature(feature: number): number {
    return this.#entropy(feature, this.#pieces[feature]);
  }

  /** Per candidate of a feature, in the order of candidatesOf, the bits that it would add. */
  costs(feature: number): Float64Array {
    const binned = this.#columns.features[feature];
    const before = this.ofFeature(feature);
    return (this.#costs[feature] ??= Float64Array.from(candidatesOf(binned), (candidate) => {
      const after = this.#divided(feature, leftBins(binned, candidate));
      return after === this.#pieces[feature] ? 0 : Math.max(0, this.#entropy(feature, after) - before);
    }));
  }

  /** The most that any one test of a feature would add. */
  costMax(feature: number): number {
    const all = Uint32Array.from(this.#columns.cells[feature], ({ bin }) => bin);
    return Math.min(1, Math.max(0, this.#entropy(feature, all) - this.ofFeature(feature)));
  }

  /** Per bin of a feature its piece; a bin without people, or that is divided itself, is a piece of its own. */
  binPieces(feature: number): Uint32Array {
    const cells = this.#columns.cells[feature];
    const ofBin = new Map<number, number[]>();
    cells.forEach(({ bin }, i) => ofBin.set(bin, [...(ofBin.get(bin) ?? []), this.#pieces[feature][i]]));
    return numbered(
      Array.from({ length: totalBinCount(this.#columns.features[feature]) }, (_, bin) => {
        const pieces = new Set(ofBin.get(bin));
        return pieces.size === 1 ? `piece ${[...pieces][0]}` : `bin ${bin}`;
      }),
    );
  }

  #divide(feature: number, left: Uint8Array): void {
    const after = this.#divided(feature, left);
    if (after === this.#pieces[feature]) return;
    this.#pieces[feature] = after;
    this.#costs[feature] = null;
  }

  /** The same array if no piece is divided. */
  #divided(feature: number, left: Uint8Array): Uint32Array {
    const before = this.#pieces[feature];
    const after = numbered(this.#columns.cells[feature].map(({ bin }, i) => 2 * before[i] + left[bin]));
    return after.every((piece, i) => piece === before[i]) ? before : after;
  }

  #entropy(feature: number, pieces: Uint32Array): number {
    const { cells, rowCount } = this.#columns;
    const counts = new Map<number, number>();
    cells[feature].forEach(({ count }, i) => counts.set(pieces[i], (counts.get(pieces[i]) ?? 0) + count));
    return entropyOf(counts.values(), rowCount);
  }
}

/** Numbers for labels, in the order in which they appear first. */
function numbered(labels: readonly (string | number)[]): Uint32Array {
  const known = new Map<string | number, number>();
  return Uint32Array.from(labels, (label) => {
    const number = known.get(label) ?? known.size;
    known.set(label, number);
    return number;
  });
}

/** Per bin index 1 if it goes left. A threshold that is no bin's bound counts the bin that it is in as right. */
function testedBins(feature: BinnedFeature, { threshold, categories, defaultLeft }: SplitTest): Uint8Array {
  const { thresholds, binCount } = feature;
  const isLeft = (bin: number): boolean => {
    if (bin === binCount) return defaultLeft;
    if (threshold === undefined) return !categories.includes(feature.categories?.[bin] ?? "");
    return bin < binCount && thresholds[bin] <= threshold;
  };
  return Uint8Array.from({ length: binIndexCount(feature) }, (_, bin) => (isLeft(bin) ? 1 : 0));
}
