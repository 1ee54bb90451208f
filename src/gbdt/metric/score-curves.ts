/**
 * How scores separate two classes, as curves of at most `pointsMax` points: the ROC curve, the two cumulative
 * distributions whose largest distance is KS, and the distribution of scores per class. Aggregates only: no point is a
 * single instance's score if there are more instances than points.
 */
import { assert } from "../../base/assert.ts";

export interface ScoreCurves {
  /** [false positive rate, true positive rate], from (0, 0) to (1, 1). */
  readonly roc: readonly (readonly [number, number])[];
  /** [score, fraction of negatives at or below it, fraction of positives at or below it], by ascending score. */
  readonly cumulative: readonly (readonly [number, number, number])[];
  /** Where the distance of the two cumulative curves is largest. */
  readonly ksAt: { readonly score: number; readonly ks: number };
  /** Instances per equally wide interval of scores. */
  readonly histogram: {
    readonly min: number;
    readonly max: number;
    readonly negatives: readonly number[];
    readonly positives: readonly number[];
  };
}

const pointsMax = 100;
const histogramBins = 24;

/** @param scores probabilities or other scores; higher means positive. @returns null with one class only */
export function scoreCurves(scores: Float64Array, labels: Float64Array): ScoreCurves | null {
  assert(scores.length === labels.length, "scores and labels of different length");
  const byScore = Uint32Array.from({ length: scores.length }, (_, i) => i).sort((a, b) => scores[a] - scores[b]);
  const positives = labels.reduce((sum, label) => sum + (label === 1 ? 1 : 0), 0);
  const negatives = labels.length - positives;
  if (positives === 0 || negatives === 0) return null;
  const steps: [number, number, number][] = [];
  let [positivesBelow, negativesBelow] = [0, 0];
  let ksAt = { score: scores[byScore[0]], ks: 0 };
  for (let i = 0; i < byScore.length; i++) {
    if (labels[byScore[i]] === 1) positivesBelow++;
    else negativesBelow++;
    const score = scores[byScore[i]];
    if (i + 1 < byScore.length && scores[byScore[i + 1]] === score) continue; // equal scores form one step
    steps.push([score, negativesBelow / negatives, positivesBelow / positives]);
    const distance = Math.abs(negativesBelow / negatives - positivesBelow / positives);
    if (distance > ksAt.ks) ksAt = { score, ks: distance };
  }
  const kept = thinned(steps);
  return {
    roc: [...kept.map(([, n, p]) => [1 - n, 1 - p] as const).reverse(), [1, 1] as const].map(([x, y]) => [
      rounded(x),
      rounded(y),
    ]),
    cumulative: kept.map(([score, n, p]) => [rounded(score), rounded(n), rounded(p)]),
    ksAt: { score: rounded(ksAt.score), ks: ksAt.ks },
    histogram: histogramOf(scores, labels, scores[byScore[0]], scores[byScore[byScore.length - 1]]),
  };
}

/** Evenly spread over the instances, the last step always included. */
function thinned<T>(steps: readonly T[]): T[] {
  const room = pointsMax - 1;
  if (steps.length <= room) return [...steps];
  return Array.from({ length: room }, (_, i) => steps[Math.round((i * (steps.length - 1)) / (room - 1))]);
}

function histogramOf(scores: Float64Array, labels: Float64Array, min: number, max: number): ScoreCurves["histogram"] {
  const counts = [new Array<number>(histogramBins).fill(0), new Array<number>(histogramBins).fill(0)];
  const width = (max - min) / histogramBins || 1;
  scores.forEach(
    (score, i) => counts[labels[i] === 1 ? 1 : 0][Math.min(histogramBins - 1, Math.floor((score - min) / width))]++,
  );
  return { min: rounded(min), max: rounded(max), negatives: counts[0], positives: counts[1] };
}

/** Rounded, so that single scores are not visible. */
function rounded(value: number): number {
  return Number(value.toPrecision(4));
}
