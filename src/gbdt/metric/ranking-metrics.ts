/** Metrics of how well scores separate two classes: only the order of scores counts. `labels` are 0 or 1. */
import { assert } from "../../base/assert.ts";
import type { Weights } from "./metrics.ts";

export interface Separation {
  readonly auc: number;
  readonly aucpr: number;
  readonly ks: number;
}

/**
 * How well scores separate the classes; all from one sort.
 *
 * AUC, the area under the ROC curve: the fraction of (positive, negative) pairs in the right order, a tie counting one
 * half (Mann-Whitney). KS, Kolmogorov-Smirnov: the largest distance between the score distributions of the two classes,
 * which is the largest TPR - FPR over all cut-offs. Both are exact for any order of rows. AUCPR, the area under the
 * precision-recall curve, is interpolated between cut-offs as XGBoost does it (Davis and Goadrich 2006).
 * @returns NaN if there is only one class
 */
export function separation(scores: ArrayLike<number>, labels: ArrayLike<number>, weights: Weights = null): Separation {
  assert(scores.length === labels.length, "predictions and labels of different length");
  const groups = tieGroups(scores, labels, weights);
  let positives = 0;
  let negatives = 0;
  for (const group of groups) {
    positives += group.positives;
    negatives += group.negatives;
  }
  if (positives === 0 || negatives === 0) return { auc: NaN, aucpr: NaN, ks: NaN };
  let wins = 0; // of positives over negatives
  let positivesBelow = 0;
  let negativesBelow = 0;
  let largest = 0;
  let aucpr = 0;
  for (const group of groups) {
    wins += group.positives * (negativesBelow + group.negatives / 2);
    const above = { tp: positives - positivesBelow, fp: negatives - negativesBelow };
    positivesBelow += group.positives;
    negativesBelow += group.negatives;
    aucpr += precisionRecallArea({ tp: positives - positivesBelow, fp: negatives - negativesBelow }, above, positives);
    largest = Math.max(largest, Math.abs(positivesBelow / positives - negativesBelow / negatives));
  }
  return { auc: wins / (positives * negatives), aucpr, ks: largest };
}

export function auc(scores: ArrayLike<number>, labels: ArrayLike<number>, weights: Weights = null): number {
  return separation(scores, labels, weights).auc;
}

export function ks(scores: ArrayLike<number>, labels: ArrayLike<number>, weights: Weights = null): number {
  return separation(scores, labels, weights).ks;
}

interface Found {
  readonly tp: number;
  readonly fp: number;
}

/** The area between two cut-offs, where false positives grow in proportion to true ones (XGBoost's CalcDeltaPRAUC). */
function precisionRecallArea(from: Found, to: Found, positives: number): number {
  const gained = to.tp - from.tp;
  if (gained === 0) return 0;
  const slope = (to.fp - from.fp) / gained;
  const a = 1 + slope;
  const b = (from.fp - slope * from.tp) / positives;
  const step = gained / positives;
  if (b === 0) return step / a;
  return (step - (b / a) * (Math.log((a * to.tp) / positives + b) - Math.log((a * from.tp) / positives + b))) / a;
}

interface TieGroup {
  /** Weights of the instances of one score. */
  readonly positives: number;
  readonly negatives: number;
}

/**
 * Groups of equal scores from the lowest score up. Without weights the two classes are sorted apart and merged: plain
 * numeric sorts are several times faster than sorting row numbers by score, and this runs after every tree.
 */
function tieGroups(scores: ArrayLike<number>, labels: ArrayLike<number>, weights: Weights): TieGroup[] {
  const groups: TieGroup[] = [];
  if (weights !== null) {
    const order = Uint32Array.from({ length: scores.length }, (_, i) => i).sort((i, j) => scores[i] - scores[j]);
    for (let at = 0; at < order.length;) {
      const score = scores[order[at]];
      assert(!Number.isNaN(score), "a score is not a number");
      const sums = [0, 0];
      for (; at < order.length && scores[order[at]] === score; at++) sums[labels[order[at]]] += weights[order[at]];
      groups.push({ positives: sums[1], negatives: sums[0] });
    }
    return groups;
  }
  const positives = sortedScores(scores, labels, 1);
  const negatives = sortedScores(scores, labels, 0);
  let p = 0;
  let n = 0;
  while (p < positives.length || n < negatives.length) {
    const score = n >= negatives.length || positives[p] < negatives[n] ? positives[p] : negatives[n];
    const [pBefore, nBefore] = [p, n];
    while (positives[p] === score) p++;
    while (negatives[n] === score) n++;
    groups.push({ positives: p - pBefore, negatives: n - nBefore });
  }
  return groups;
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
