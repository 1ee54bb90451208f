/** Generated tables for the oracle tests: seeded, small, with ties and missing values on demand. */
import { SeededRandom } from "../../src/base/random.ts";
import { type TestTable } from "../world/simulated.ts";

export interface TableShape {
  readonly rows: number;
  /** Features per party; index 0 is the active party. */
  readonly features: readonly number[];
  readonly missingFraction?: number;
  /** Values are drawn from so few levels that equal gains are common, and every party holds a copy of one column. */
  readonly ties?: boolean;
  readonly regression?: boolean;
}

export function randomTable(seed: number | string, shape: TableShape): TestTable {
  const random = new SeededRandom(`table-${seed}`);
  const { rows, features, missingFraction = 0, ties = false, regression = false } = shape;
  const score = new Float64Array(rows);
  const shared = Float32Array.from({ length: rows }, () => random.below(3) - 1);
  if (ties) shared.forEach((value, row) => (score[row] += value));
  const parties = features.map((count) =>
    Array.from({ length: count }, (_, f) => {
      if (ties && f === 0) return shared.slice();
      const weight = random.normal();
      const skewed = random.uniform() < 0.4;
      return Float32Array.from({ length: rows }, (_v, row) => {
        const raw = ties
          ? random.below(3) - 1
          : skewed && random.uniform() < 0.7
            ? 0
            : random.normal() * 10 ** random.below(3);
        score[row] += weight * Math.tanh(raw);
        return random.uniform() < missingFraction ? Number.NaN : raw;
      });
    }),
  );
  const labels = score.map((value) => {
    if (regression) return Math.round((value * 7 + random.normal()) * 100) / 100;
    return random.uniform() < 1 / (1 + Math.exp(-2 * value)) ? 1 : 0;
  });
  labels[0] = regression ? labels[0] : 0;
  labels[1] = regression ? labels[1] : 1;
  return { labels, parties };
}
