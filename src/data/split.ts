/** The seeded train/test split: every party of a job, and the centralised comparison, must cut the same rows. */
import { TandemError } from "../base/error.ts";
import { SeededRandom } from "../base/random.ts";

export interface RowSplit {
  /** Row numbers in ascending order, so that a split table keeps the file's order. */
  readonly train: Uint32Array;
  readonly test: Uint32Array;
}

/**
 * Draws round(count * testFraction) rows for testing.
 * @throws TandemError USAGE if the fraction is not between 0 and 1 or leaves either side without rows
 */
export function splitRows(count: number, testFraction: number, seed: number | string): RowSplit {
  if (!(testFraction > 0 && testFraction < 1)) {
    throw new TandemError("USAGE", `the test fraction must be above 0 and below 1; got '${testFraction}'`);
  }
  const testCount = Math.round(count * testFraction);
  if (testCount === 0 || testCount === count) {
    const side = testCount === 0 ? "testing" : "training";
    throw new TandemError("USAGE", `a test fraction of ${testFraction} leaves none of ${count} rows for ${side}`);
  }
  return drawRows(count, { test: testCount, train: count - testCount }, seed);
}

/**
 * Draws rows by number: first the test rows, then the training rows. With the same seed and test rows, a smaller
 * training set is part of a larger one, and both are tested on the same rows.
 * @throws TandemError USAGE if there are not that many rows
 */
export function drawRows(
  count: number,
  wanted: { readonly test: number; readonly train: number },
  seed: number | string,
): RowSplit {
  if (wanted.test + wanted.train > count) {
    throw new TandemError(
      "USAGE",
      `${wanted.train} training rows and ${wanted.test} test rows are wanted, but there are only ${count} rows`,
    );
  }
  const order = new SeededRandom(seed).permutation(count);
  return {
    test: order.slice(0, wanted.test).sort(),
    train: order.slice(wanted.test, wanted.test + wanted.train).sort(),
  };
}

/** Draws rows of the training rows for validation: ascending. @throws TandemError USAGE as splitRows */
export function validationRows(count: number, fraction: number, seed: number): Uint32Array {
  return splitRows(count, fraction, `${seed}/validation`).test;
}

/**
 * One fold of a seeded k-fold cross-validation: every row is tested in exactly one fold.
 * @throws TandemError USAGE if there are fewer rows than folds
 */
export function foldRows(count: number, folds: number, fold: number, seed: number): RowSplit {
  if (count < folds) throw new TandemError("USAGE", `${count} rows cannot be cut into ${folds} folds`);
  const order = new SeededRandom(`${seed}/folds`).permutation(count);
  return {
    test: order.filter((_, i) => i % folds === fold).sort(),
    train: order.filter((_, i) => i % folds !== fold).sort(),
  };
}
