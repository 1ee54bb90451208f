/**
 * Cut-offs of a score, and what each decides: how many of either class are at or above it. At most `cutOffsMax` of them
 * are kept with a job, from which its report chooses by threshold, by rate and by cost, and draws curves.
 *
 * Runs in browsers too.
 */
import type { ScoreSteps } from "./score-steps.ts";

/** [score, weight of the positives at or above it, weight of the negatives at or above it]. */
export type CutOff = readonly [score: number, positives: number, negatives: number];

export interface Totals {
  readonly positives: number;
  readonly negatives: number;
}

/** Decisions at a cut-off, where a score at or above it is taken for the second class (label 1). */
export interface Confusion {
  readonly score: number;
  readonly tp: number;
  readonly fp: number;
  readonly fn: number;
  readonly tn: number;
}

export const cutOffsMax = 200;

/**
 * The highest score first. Where there are more scores, they are evenly spread over the rows, the first and last
 * included; the one where the two classes are furthest apart is always among them.
 */
export function cutOffsOf({ scores, positives, negatives }: ScoreSteps, most = cutOffsMax): CutOff[] {
  const all = Array.from(scores, (score, step): CutOff => [score, positives[step], negatives[step]]);
  if (all.length <= most) return all;
  const last = all.length - 1;
  const totals = { positives: positives[last], negatives: negatives[last] };
  const apart = furthestApart(all, totals);
  const kept: CutOff[] = [];
  let spread = 0;
  for (const [step, cut] of all.entries()) {
    const isDue = cut[1] + cut[2] >= (spread * (totals.positives + totals.negatives)) / (most - 2);
    if (isDue) spread++;
    if (isDue || step === last || cut === apart) kept.push(cut);
  }
  return kept;
}

export function confusionAt([score, tp, fp]: CutOff, { positives, negatives }: Totals): Confusion {
  return { score, tp, fp, fn: positives - tp, tn: negatives - fp };
}

/** The lowest kept cut-off that is not below a threshold; above all scores nothing is taken for the second class. */
export function atThreshold(cutOffs: readonly CutOff[], threshold: number): CutOff {
  return cutOffs.findLast(([score]) => score >= threshold) ?? [threshold, 0, 0];
}

/** The lowest kept cut-off with at most this part of all rows at or above it. @param rate from 0 to 1 */
export function atRate(cutOffs: readonly CutOff[], { positives, negatives }: Totals, rate: number): CutOff {
  const most = rate * (positives + negatives) * (1 + 1e-12);
  return cutOffs.findLast(([, tp, fp]) => tp + fp <= most) ?? [cutOffs[0]?.[0] ?? 0, 0, 0];
}

/** What a wrong decision costs, per row. */
export interface Costs {
  /** A positive below the cut-off. */
  readonly miss: number;
  /** A negative at or above it. */
  readonly falseAlarm: number;
}

export function costOf({ fn, fp }: Pick<Confusion, "fn" | "fp">, { miss, falseAlarm }: Costs): number {
  return miss * fn + falseAlarm * fp;
}

/** The kept cut-off with the least cost, which may be above all scores. */
export function cheapest(cutOffs: readonly CutOff[], totals: Totals, costs: Costs): CutOff {
  let best: CutOff = [Infinity, 0, 0];
  for (const cut of cutOffs)
    if (costOf(confusionAt(cut, totals), costs) < costOf(confusionAt(best, totals), costs)) best = cut;
  return best;
}

/** Where the two classes are furthest apart. */
export function furthestApart(cutOffs: readonly CutOff[], { positives, negatives }: Totals): CutOff {
  const distance = ([, tp, fp]: CutOff): number => Math.abs(tp / positives - fp / negatives);
  return cutOffs.reduce((best, cut) => (distance(cut) > distance(best) ? cut : best), [Infinity, 0, 0] as CutOff);
}

/** Rates of a confusion matrix; NaN where there is nothing to divide by. */
export function ratesOf({ tp, fp, fn, tn }: Confusion) {
  const all = tp + fp + fn + tn;
  return {
    /** The part of all rows that is at or above the cut-off. */
    flagged: (tp + fp) / all,
    precision: tp / (tp + fp),
    recall: tp / (tp + fn),
    falsePositiveRate: fp / (fp + tn),
    accuracy: (tp + tn) / all,
    f1: (2 * tp) / (2 * tp + fp + fn),
  };
}
