/**
 * Two classes, counted from the highest score down: at each score, the weight of either class at or above it. Every
 * statistic of two classes that depends on a cut-off is read from here, after one sort.
 */
import { assert } from "../../base/assert.ts";
import type { Weights } from "../metric/weighted-mean.ts";

/** Columns of equal length, one entry per distinct score, the highest score first. */
export interface ScoreSteps {
  readonly scores: Float64Array;
  /** Weight of the rows with this score or a higher one, by label. */
  readonly positives: Float64Array;
  readonly negatives: Float64Array;
}

/** @param labels 0 or 1 */
export function scoreSteps(scores: Float64Array, labels: Float64Array, weights: Weights = null): ScoreSteps {
  assert(scores.length === labels.length, "scores and labels of different length");
  const order = byScoreDown(scores);
  const steps: [number[], number[], number[]] = [[], [], []];
  let [positives, negatives] = [0, 0];
  order.forEach((row, place) => {
    const weight = weights?.[row] ?? 1;
    if (labels[row] === 1) positives += weight;
    else negatives += weight;
    if (place + 1 < order.length && scores[order[place + 1]] === scores[row]) return; // equal scores form one step
    steps[0].push(scores[row]);
    steps[1].push(positives);
    steps[2].push(negatives);
  });
  const [ofScores, ofPositives, ofNegatives] = steps.map((values) => Float64Array.from(values));
  return { scores: ofScores, positives: ofPositives, negatives: ofNegatives };
}

/** Rows by descending score. */
export function byScoreDown(scores: Float64Array): Uint32Array {
  return Uint32Array.from(scores, (_, row) => row).sort((a, b) => scores[b] - scores[a]);
}

/** The weight of either class. */
export function classTotals({ positives, negatives }: ScoreSteps): { positives: number; negatives: number } {
  return { positives: positives.at(-1) ?? 0, negatives: negatives.at(-1) ?? 0 };
}

/** Average precision: the precision at each score, weighted by the recall gained there. Not interpolated. */
export function averagePrecision({ positives, negatives }: ScoreSteps): number {
  let sum = 0;
  positives.forEach((found, step) => {
    sum += (found - (positives[step - 1] ?? 0)) * (found / (found + negatives[step]));
  });
  return sum / (positives.at(-1) ?? Number.NaN);
}
