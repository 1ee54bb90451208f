/** Metrics of how well scores separate two classes: only the order of scores counts. `labels` are 0 or 1. */
import { assert } from "../../base/assert.ts";
import { plainAddon } from "../../base/plain-addon.ts";
import type { Weights } from "./metrics.ts";

/** Below this many scores a call of the addon costs more than it brings. */
const nativeMin = 4096;

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
  if (weights !== null) return new GroupedScores(weightedGroups(scores, labels, weights));
  return new GroupedScores(mergedGroups(classScores(scores, labels, 1).sort(), classScores(scores, labels, 0).sort()));
}

/** The same, sorted by the addon where it is there: the event loop does not wait for it. */
export async function separationAside(
  scores: ArrayLike<number>,
  labels: ArrayLike<number>,
  weights: Weights = null,
): Promise<Separation> {
  const addon = plainAddon();
  if (addon === null || weights !== null || scores.length < nativeMin) return separation(scores, labels, weights);
  assert(scores.length === labels.length, "predictions and labels of different length");
  const classes = [classScores(scores, labels, 1), classScores(scores, labels, 0)];
  await Promise.all(classes.map((ofClass) => addon.plainSort(ofClass)));
  return new GroupedScores(mergedGroups(classes[0], classes[1]));
}

/** Weights of the instances of one score, from the lowest score up; the first `count` of each array. */
interface TieGroups {
  readonly positives: Float64Array;
  readonly negatives: Float64Array;
  readonly count: number;
}

class GroupedScores implements Separation {
  readonly auc: number;
  readonly ks: number;
  readonly #groups: TieGroups;
  readonly #positives: number;
  readonly #negatives: number;

  constructor(groups: TieGroups) {
    this.#groups = groups;
    let positives = 0;
    let negatives = 0;
    for (let i = 0; i < groups.count; i++) {
      positives += groups.positives[i];
      negatives += groups.negatives[i];
    }
    this.#positives = positives;
    this.#negatives = negatives;
    if (positives === 0 || negatives === 0) {
      this.auc = this.ks = NaN;
      return;
    }
    let wins = 0; // of positives over negatives
    let positivesBelow = 0;
    let negativesBelow = 0;
    let largest = 0;
    for (let i = 0; i < groups.count; i++) {
      wins += groups.positives[i] * (negativesBelow + groups.negatives[i] / 2);
      positivesBelow += groups.positives[i];
      negativesBelow += groups.negatives[i];
      largest = Math.max(largest, Math.abs(positivesBelow / positives - negativesBelow / negatives));
    }
    this.auc = wins / (positives * negatives);
    this.ks = largest;
  }

  /** Asked for rarely, and dear: logarithms. */
  get aucpr(): number {
    const [positives, negatives] = [this.#positives, this.#negatives];
    if (positives === 0 || negatives === 0) return NaN;
    let positivesBelow = 0;
    let negativesBelow = 0;
    let aucpr = 0;
    for (let i = 0; i < this.#groups.count; i++) {
      const above = { tp: positives - positivesBelow, fp: negatives - negativesBelow };
      positivesBelow += this.#groups.positives[i];
      negativesBelow += this.#groups.negatives[i];
      const from = { tp: positives - positivesBelow, fp: negatives - negativesBelow };
      aucpr += precisionRecallArea(from, above, positives);
    }
    return aucpr;
  }
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

function weightedGroups(scores: ArrayLike<number>, labels: ArrayLike<number>, weights: ArrayLike<number>): TieGroups {
  const order = Uint32Array.from({ length: scores.length }, (_, i) => i).sort((i, j) => scores[i] - scores[j]);
  const positives = new Float64Array(scores.length);
  const negatives = new Float64Array(scores.length);
  let count = 0;
  for (let at = 0; at < order.length; count++) {
    const score = scores[order[at]];
    assert(!Number.isNaN(score), "a score is not a number");
    const sums = [0, 0];
    for (; at < order.length && scores[order[at]] === score; at++) sums[labels[order[at]]] += weights[order[at]];
    [negatives[count], positives[count]] = sums;
  }
  return { positives, negatives, count };
}

/**
 * Without weights the two classes are sorted apart and merged: plain numeric sorts are several times faster than
 * sorting row numbers by score, and this runs after every tree.
 */
function mergedGroups(ofPositives: Float64Array, ofNegatives: Float64Array): TieGroups {
  const positives = new Float64Array(ofPositives.length + ofNegatives.length);
  const negatives = new Float64Array(positives.length);
  let p = 0;
  let n = 0;
  let count = 0;
  for (; p < ofPositives.length || n < ofNegatives.length; count++) {
    const score = n >= ofNegatives.length || ofPositives[p] < ofNegatives[n] ? ofPositives[p] : ofNegatives[n];
    const [pBefore, nBefore] = [p, n];
    while (p < ofPositives.length && ofPositives[p] === score) p++;
    while (n < ofNegatives.length && ofNegatives[n] === score) n++;
    positives[count] = p - pBefore;
    negatives[count] = n - nBefore;
  }
  return { positives, negatives, count };
}

/** The scores of one class. */
function classScores(scores: ArrayLike<number>, labels: ArrayLike<number>, label: number): Float64Array {
  const kept = new Float64Array(scores.length);
  let count = 0;
  for (let i = 0; i < scores.length; i++) {
    if (labels[i] !== label) continue;
    assert(!Number.isNaN(scores[i]), "a score is not a number");
    kept[count++] = scores[i];
  }
  return kept.subarray(0, count);
}
