/**
 * Generated tables with columns of categories for the oracle tests: seeded, with rare and missing ones, at every party.
 */
import { SeededRandom } from "../../src/base/random.ts";
import { randomTable, type TableShape } from "./tables.ts";
import { type TestTable } from "../world/simulated.ts";

export interface CategoricalShape extends TableShape {
  /** Per party and further column its number of categories. */
  readonly categories: readonly (readonly number[])[];
}

/**
 * Numbers first, then columns of categories that the labels depend on: frequent and rare ones, each with an effect of
 * its own.
 */
export function categoricalTable(seed: number | string, shape: CategoricalShape): TestTable {
  const random = new SeededRandom(`categories-${seed}`);
  const base = randomTable(seed, shape);
  const { rows, missingFraction = 0, regression = false } = shape;
  const score = new Float64Array(rows);
  const columns = shape.categories.map((counts) =>
    counts.map((count) => {
      const effects = Float64Array.from({ length: count }, () => random.normal() * 1.5);
      const missingEffect = random.normal();
      return Float32Array.from({ length: rows }, (_, row) => {
        const isMissing = random.uniform() < missingFraction;
        const code = Math.min(random.below(count), random.below(count)); // low codes are frequent
        score[row] += isMissing ? missingEffect : effects[code];
        return isMissing ? Number.NaN : code;
      });
    }),
  );
  const labels = base.labels.map((label, row) =>
    regression
      ? label + Math.round(score[row] * 100) / 100
      : random.uniform() < 1 / (1 + Math.exp(-score[row] - (label - 0.5)))
        ? 1
        : 0,
  );
  if (!regression) [labels[0], labels[1]] = [0, 1];
  const names = (count: number): string[] =>
    Array.from({ length: count }, (_, code) => `kind ${(code * 7) % 11} of ${code}`);
  return {
    labels,
    parties: base.parties.map((numbers, party) => [...numbers, ...(columns[party] ?? [])]),
    categories: base.parties.map((numbers, party) => [
      ...numbers.map(() => null),
      ...(shape.categories[party] ?? []).map(names),
    ]),
  };
}
