/** Evaluation metrics. `labels` are 0 or 1 except in rmse. */
import { assert } from "../base/assert.ts";

export interface Separation {
  readonly auc: number;
  readonly ks: number;
}

/**
 * How well scores separate the classes; both from one sort.
 *
 * AUC, the area under the ROC curve: the share of (positive, negative) pairs in the right order, a tie counting one half
 * (Mann-Whitney). KS, Kolmogorov-Smirnov: the largest distance between the score distributions of the two classes, which
 * is the largest TPR - FPR over all cut-offs. Both are exact for any order of rows.
 * @returns NaN if there is only one class
 */
export function separation(scores: ArrayLike<number>, labels: ArrayLike<number>): Separation {
  const positives = sum(labels);
  const negatives = labels.length - positives;
  let wins = 0; // of positives over negatives
  let positivesBelow = 0;
  let negativesBelow = 0;
  let largest = 0;
  forTieGroups(scores, labels, (groupPositives, groupNegatives) => {
    wins += groupPositives * (negativesBelow + groupNegatives / 2);
    positivesBelow += groupPositives;
    negativesBelow += groupNegatives;
    largest = Math.max(largest, Math.abs(positivesBelow / positives - negativesBelow / negatives));
  });
  if (positives === 0 || negatives === 0) return { auc: NaN, ks: NaN };
  return { auc: wins / (positives * negatives), ks: largest };
}

export function auc(scores: ArrayLike<number>, labels: ArrayLike<number>): number {
  return separation(scores, labels).auc;
}

export function ks(scores: ArrayLike<number>, labels: ArrayLike<number>): number {
  return separation(scores, labels).ks;
}

/** Mean negative log-likelihood; probabilities are kept 1e-16 away from 0 and 1, as in XGBoost. */
export function logloss(probabilities: ArrayLike<number>, labels: ArrayLike<number>): number {
  assertSameLength(probabilities, labels);
  const epsilon = 1e-16;
  let total = 0;
  for (let i = 0; i < labels.length; i++) {
    const p = Math.max(probabilities[i], epsilon);
    const q = Math.max(1 - probabilities[i], epsilon);
    total -= labels[i] * Math.log(p) + (1 - labels[i]) * Math.log(q);
  }
  return total / labels.length;
}

/** Root mean squared error. */
export function rmse(predictions: ArrayLike<number>, labels: ArrayLike<number>): number {
  assertSameLength(predictions, labels);
  let total = 0;
  for (let i = 0; i < labels.length; i++) total += (predictions[i] - labels[i]) ** 2;
  return Math.sqrt(total / labels.length);
}

/**
 * Visits groups of equal scores from the lowest score up. The two classes are sorted apart and merged: plain numeric
 * sorts are several times faster than sorting row numbers by score, and this runs after every tree.
 */
function forTieGroups(
  scores: ArrayLike<number>,
  labels: ArrayLike<number>,
  visit: (positives: number, negatives: number) => void,
): void {
  assertSameLength(scores, labels);
  const positives = sortedScores(scores, labels, 1);
  const negatives = sortedScores(scores, labels, 0);
  let p = 0;
  let n = 0;
  while (p < positives.length || n < negatives.length) {
    const score = n >= negatives.length || positives[p] < negatives[n] ? positives[p] : negatives[n];
    const [pBefore, nBefore] = [p, n];
    while (positives[p] === score) p++;
    while (negatives[n] === score) n++;
    visit(p - pBefore, n - nBefore);
  }
}

/** The scores of one class, ascending. */
function sortedScores(scores: ArrayLike<number>, labels: ArrayLike<number>, label: number): Float64Array {
  const kept = new Float64Array(scores.length);
  let count = 0;
  for (let i = 0; i < scores.length; i++) {
    if (labels[i] !== label) continue;
    assert(!Number.isNaN(scores[i]), "a score is not a number");
    kept[count++] = scores[i];
  }
  return kept.subarray(0, count).sort();
}

function sum(values: ArrayLike<number>): number {
  let total = 0;
  for (let i = 0; i < values.length; i++) total += values[i];
  return total;
}

function assertSameLength(a: ArrayLike<number>, b: ArrayLike<number>): void {
  assert(a.length === b.length, "predictions and labels of different length");
}
