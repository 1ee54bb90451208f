/**
 * How scores separate two classes, as curves: the ROC curve, the two cumulative distributions whose largest distance is
 * KS, and the distribution of scores per class. Drawn from the kept cut-offs.
 *
 * Runs in browsers too.
 */
import type { CutOff, Totals } from "./cut-offs.ts";

export interface ScoreCurves {
  /** [false positive rate, true positive rate], from (0, 0) to (1, 1). */
  readonly roc: readonly (readonly [number, number])[];
  /** [score, fraction of negatives below it, fraction of positives below it], by ascending score. */
  readonly cumulative: readonly (readonly [number, number, number])[];
  /** Where the distance of the two cumulative curves is largest. */
  readonly ksAt: { readonly score: number; readonly ks: number };
  readonly histogram: ScoreHistogram;
}

/** Rows per equally wide interval of scores. */
export interface ScoreHistogram {
  readonly min: number;
  readonly max: number;
  readonly negatives: readonly number[];
  readonly positives: readonly number[];
}

const histogramBins = 24;

export function curvesOf(
  cutOffs: readonly CutOff[],
  { positives, negatives }: Totals,
  ksAt: ScoreCurves["ksAt"],
  histogram: ScoreHistogram,
): ScoreCurves {
  return {
    roc: [[0, 0], ...cutOffs.map(([, tp, fp]) => [fp / negatives, tp / positives] as const)],
    cumulative: cutOffs.map(([score, tp, fp]) => [score, 1 - fp / negatives, 1 - tp / positives] as const).reverse(),
    ksAt,
    histogram,
  };
}

export function scoreHistogram(scores: Float64Array, labels: Float64Array): ScoreHistogram {
  let [min, max] = [Infinity, -Infinity];
  for (const score of scores) {
    min = Math.min(min, score);
    max = Math.max(max, score);
  }
  const counts = [new Array<number>(histogramBins).fill(0), new Array<number>(histogramBins).fill(0)];
  const width = (max - min) / histogramBins || 1;
  scores.forEach(
    (score, i) => counts[labels[i] === 1 ? 1 : 0][Math.min(histogramBins - 1, Math.floor((score - min) / width))]++,
  );
  return { min, max, negatives: counts[0], positives: counts[1] };
}
