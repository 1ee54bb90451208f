/** Several classes: each against the rest, and which is taken for which. */
import { auc } from "../metric/auc-metrics.ts";
import type { Weights } from "../metric/weighted-mean.ts";
import { finiteOrNull } from "./bootstrap.ts";

export interface ClassFigures {
  /** Number of the class. */
  readonly label: number;
  readonly rows: number;
  /** Null where the class, or the rest, has no rows. */
  readonly auc: number | null;
  /** Of the rows that are taken for it; null: none is. */
  readonly precision: number | null;
  /** Of its rows. */
  readonly recall: number | null;
  readonly brier: number;
}

/** Of more classes only the figures of each are kept. */
const confusionClassesMax = 20;

/** The likeliest class of each row, the first of several. */
export function likeliest(probabilities: Float64Array, classes: number): Uint32Array {
  return Uint32Array.from({ length: probabilities.length / classes }, (_, row) => {
    let best = 0;
    for (let k = 1; k < classes; k++)
      if (probabilities[row * classes + k] > probabilities[row * classes + best]) best = k;
    return best;
  });
}

/** @param probabilities those of a row side by side */
export function classFigures(
  probabilities: Float64Array,
  labels: Float64Array,
  weights: Weights,
): { readonly classes: readonly ClassFigures[]; readonly confusion: readonly (readonly number[])[] | null } {
  const count = probabilities.length / labels.length;
  const chosen = likeliest(probabilities, count);
  const confusion = Array.from({ length: count }, () => new Array<number>(count).fill(0));
  labels.forEach((label, row) => (confusion[label][chosen[row]] += weights?.[row] ?? 1));
  const weightOf = (row: number): number => weights?.[row] ?? 1;
  const total = labels.reduce((sum, _, row) => sum + weightOf(row), 0);
  const classes = confusion.map((row, k) => {
    const scores = labels.map((_, i) => probabilities[i * count + k]);
    const isOf = labels.map((label) => Number(label === k));
    const loss = scores.reduce((sum, score, i) => sum + weightOf(i) * (score - isOf[i]) ** 2, 0);
    return {
      label: k,
      rows: isOf.reduce((sum, is) => sum + is, 0),
      auc: finiteOrNull(auc(scores, isOf, weights)),
      precision: finiteOrNull(row[k] / confusion.reduce((sum, of) => sum + of[k], 0)),
      recall: finiteOrNull(row[k] / row.reduce((sum, value) => sum + value, 0)),
      brier: loss / total,
    };
  });
  return { classes, confusion: count <= confusionClassesMax ? confusion : null };
}
