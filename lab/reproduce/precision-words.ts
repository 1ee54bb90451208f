/** The text about the precision of sums, from its numbers: where we agree with the paper and where not. */
import { count, percent } from "./figures-in-words.ts";
import type { ModelRow } from "./precision-models.ts";
import type { SumErrors } from "./precision-sums.ts";

/** A negligible difference, as in the claims. */
export const closeAuc = 0.002;
/** Rounding of doubles while errors are summed. */
const slack = 1e-9;

/** Sentences for either outcome. */
export function precisionWords(
  grid: readonly SumErrors[],
  byAlphaMax: readonly SumErrors[],
  byAlpha: readonly SumErrors[],
  models: readonly ModelRow[],
): string {
  return [
    boundWords([...grid, ...byAlpha]),
    roundingWords(grid),
    tradeOffWords(byAlphaMax, byAlpha.toReversed()),
    modelWords(models),
  ].join(" ");
}

function boundWords(rows: readonly SumErrors[]): string {
  const broken = rows.filter(
    ({ error, bound, worstFractionOfBound }) => error.nearest > bound * (1 + slack) || worstFractionOfBound > 1 + slack,
  );
  const fractions = rows.map(({ error, bound }) => error.nearest / bound);
  const verdict =
    broken.length === 0
      ? `The paper's bound holds in all ${count(rows.length)} settings, and in every bin`
      : `The paper's bound is broken in ${count(broken.length)} of ${count(rows.length)} settings`;
  const tight = Math.max(...rows.map(({ worstFractionOfBound }) => worstFractionOfBound));
  const spread = `${percent(Math.min(...fractions))} to ${percent(Math.max(...fractions))}`;
  return (
    `${verdict}. The error of rounding to nearest is ${spread} of it, and up to ${percent(tight)} in a bin.` +
    (tight > 0.5 ? " The bound is reached where many gradients are equal and have the same rounding error." : "")
  );
}

function roundingWords(grid: readonly SumErrors[]): string {
  const gains = grid.map(({ error }) => error.nearest / error.stochastic).toSorted((a, b) => a - b);
  const median = gains[Math.floor(gains.length / 2)];
  const effect =
    median > 1
      ? `smaller by a factor of ${median.toPrecision(2)} in the median, because its errors cancel`
      : "no smaller here";
  return `The paper does not use stochastic rounding. It makes the error of the large sum ${effect}.`;
}

/** @param byAlpha from the largest alpha to the smallest: the direction in which more values can be added */
function tradeOffWords(byAlphaMax: readonly SumErrors[], byAlpha: readonly SumErrors[]): string {
  const shows = (rows: readonly SumErrors[]): boolean => {
    const [first, last] = [rows[0], rows[rows.length - 1]];
    return last.countMax > first.countMax && last.error.nearest > first.error.nearest;
  };
  const [first, second] = [shows(byAlphaMax), shows(byAlpha)];
  if (first && second)
    return (
      "Both trade-offs are confirmed. With a larger alpha_max, or a smaller alpha, more values can be added, " +
      "but their sum is less precise."
    );
  const shown = (isShown: boolean): string => (isShown ? "is confirmed" : "is not confirmed");
  return `Of the two trade-offs, the one of alpha_max ${shown(first)} and the one of alpha ${shown(second)}.`;
}

function modelWords(models: readonly ModelRow[]): string {
  const finest = models[models.length - 1];
  const coarse = models.slice(0, -1);
  const good = coarse.filter(({ auc }) => Math.abs(auc - finest.auc) <= closeAuc);
  const listOf = (rows: readonly ModelRow[]): string => rows.map(({ r }) => r).join(", ");
  return good.length === 0
    ? `No tested r comes within ${closeAuc} of the finest grid's test AUC.`
    : `Test AUC is within ${closeAuc} of the finest grid's at r = ${listOf(good)}; tested were ${listOf(coarse)}.`;
}
