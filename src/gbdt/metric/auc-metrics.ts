/** Metrics of how well scores separate two classes: only the order of scores counts. `labels` are 0 or 1. */
import { assert } from "../../base/assert.ts";
import { plainAddon } from "../../base/plain-addon.ts";
import type { Metric } from "./metric.ts";
import type { Weights } from "./weighted-mean.ts";

const twoClasses = { fits: ["binary"], higherIsBetter: true, needsAllClasses: true } as const;

export const aucMetrics = [
  {
    ...twoClasses,
    name: "auc",
    about: "area under the ROC curve; with several classes one-vs-rest, weighted by class frequency",
    fits: ["binary", "classes"],
    value(evaluation) {
      const { outputCount, predictions, labels, weights } = evaluation;
      return outputCount === 1 ? evaluation.separation.auc : multiClassAuc(predictions, outputCount, labels, weights);
    },
  },
  {
    ...twoClasses,
    name: "aucpr",
    about: "area under the precision-recall curve",
    value: ({ separation: { aucpr } }) => aucpr,
  },
  {
    ...twoClasses,
    name: "ks",
    about: "Kolmogorov-Smirnov: the largest distance between the score distributions of the two classes",
    value: ({ separation: { ks } }) => ks,
  },
] as const satisfies readonly Metric[];

/** Below this many scores the overhead of an addon call exceeds its benefit. */
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

/** The same, in the addon if it is available, without blocking the event loop. */
export async function separationAside(
  scores: Float64Array,
  labels: Float64Array,
  weights: Weights = null,
): Promise<Separation> {
  const addon = plainAddon();
  if (addon === null || weights !== null || scores.length < nativeMin) return separation(scores, labels, weights);
  assert(scores.length === labels.length, "predictions and labels of different length");
  let positiveCount = 0;
  for (let i = 0; i < labels.length; i++) if (labels[i] === 1) positiveCount++;
  const positives = new Float64Array(positiveCount);
  const negatives = new Float64Array(labels.length - positiveCount);
  const result = new Float64Array(2);
  const refused = await addon.plainSeparation(scores, labels, positives, negatives, result);
  assert(refused === -1, "a score is not a number, or a label is not 0 or 1");
  const [auc, ks] = positives.length === 0 || negatives.length === 0 ? [NaN, NaN] : result;
  return {
    auc,
    ks,
    get aucpr() {
      return new GroupedScores(mergedGroups(positives, negatives)).aucpr;
    },
  };
}

/** Visits the groups of equal scores from the lowest score up, with the weights of either class in each. */
type TieGroups = (visit: (positives: number, negatives: number) => void) => void;

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
    groups((ofPositives, ofNegatives) => {
      positives += ofPositives;
      negatives += ofNegatives;
    });
    this.#positives = positives;
    this.#negatives = negatives;
    let wins = 0; // of positives over negatives
    let positivesBelow = 0;
    let negativesBelow = 0;
    let largest = 0;
    groups((ofPositives, ofNegatives) => {
      wins += ofPositives * (negativesBelow + ofNegatives / 2);
      positivesBelow += ofPositives;
      negativesBelow += ofNegatives;
      largest = Math.max(largest, Math.abs(positivesBelow / positives - negativesBelow / negatives));
    });
    const isOneClass = positives === 0 || negatives === 0;
    this.auc = isOneClass ? NaN : wins / (positives * negatives);
    this.ks = isOneClass ? NaN : largest;
  }

  /** Computed on demand, because logarithms are expensive. */
  get aucpr(): number {
    const [positives, negatives] = [this.#positives, this.#negatives];
    if (positives === 0 || negatives === 0) return NaN;
    let positivesBelow = 0;
    let negativesBelow = 0;
    let aucpr = 0;
    this.#groups((ofPositives, ofNegatives) => {
      const above = { tp: positives - positivesBelow, fp: negatives - negativesBelow };
      positivesBelow += ofPositives;
      negativesBelow += ofNegatives;
      const from = { tp: positives - positivesBelow, fp: negatives - negativesBelow };
      aucpr += precisionRecallArea(from, above, positives);
    });
    return aucpr;
  }
}

export function auc(scores: ArrayLike<number>, labels: ArrayLike<number>, weights: Weights = null): number {
  return separation(scores, labels, weights).auc;
}

export function ks(scores: ArrayLike<number>, labels: ArrayLike<number>, weights: Weights = null): number {
  return separation(scores, labels, weights).ks;
}

/**
 * Each class against the rest, by the share of its rows, as XGBoost weights it.
 * @param probabilities those of a row side by side
 * @returns NaN if a class has no rows, or all of them
 */
function multiClassAuc(
  probabilities: ArrayLike<number>,
  classes: number,
  labels: ArrayLike<number>,
  weights: Weights = null,
): number {
  let sum = 0;
  let total = 0;
  for (let k = 0; k < classes; k++) {
    const isOfClass = Float64Array.from(labels, (label) => (label === k ? 1 : 0));
    const scores = Float64Array.from(labels, (_, row) => probabilities[row * classes + k]);
    const share = isOfClass.reduce((of, is, row) => of + is * (weights?.[row] ?? 1), 0);
    sum += share * auc(scores, isOfClass, weights);
    total += share;
  }
  return sum / total;
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
  return (visit) => {
    for (let at = 0; at < order.length;) {
      const score = scores[order[at]];
      assert(!Number.isNaN(score), "a score is not a number");
      const sums = [0, 0];
      for (; at < order.length && scores[order[at]] === score; at++) sums[labels[order[at]]] += weights[order[at]];
      visit(sums[1], sums[0]);
    }
  };
}

/**
 * Without weights the two classes are sorted apart and merged: plain numeric sorts are several times faster than
 * sorting row numbers by score, and this runs after every tree.
 */
function mergedGroups(positives: Float64Array, negatives: Float64Array): TieGroups {
  return (visit) => {
    let p = 0;
    let n = 0;
    while (p < positives.length || n < negatives.length) {
      const score = n >= negatives.length || positives[p] < negatives[n] ? positives[p] : negatives[n];
      const [pBefore, nBefore] = [p, n];
      while (p < positives.length && positives[p] === score) p++;
      while (n < negatives.length && negatives[n] === score) n++;
      visit(p - pBefore, n - nBefore);
    }
  };
}

/** The scores of one class. */
function classScores(scores: ArrayLike<number>, labels: ArrayLike<number>, label: number): Float64Array {
  let count = 0;
  for (let i = 0; i < labels.length; i++) if (labels[i] === label) count++;
  const kept = new Float64Array(count);
  for (let i = 0, at = 0; at < count; i++) {
    if (labels[i] !== label) continue;
    assert(!Number.isNaN(scores[i]), "a score is not a number");
    kept[at++] = scores[i];
  }
  return kept;
}
