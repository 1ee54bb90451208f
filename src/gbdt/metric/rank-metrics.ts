/** Metrics of the order within groups, as means over groups by weight (XGBoost 2.1, src/metric/rank_metric.cc). */
import { discountedGain, idealGain, ranked, rankGroups } from "../objective/rank-groups.ts";
import type { Metric } from "./metric.ts";
import type { Weights } from "./weighted-mean.ts";

const ofPlaces = { numbered: "k", fits: ["rank"], higherIsBetter: true } as const;

export const rankMetrics = [
  {
    ...ofPlaces,
    name: "ndcg",
    about:
      "normalised discounted cumulative gain at k; gains are 2^label - 1 regardless of ndcg_exp_gain, as in XGBoost",
    value: (evaluation, at) => ndcg(evaluation.ranked(at)),
  },
  {
    ...ofPlaces,
    name: "map",
    about: "mean average precision at k",
    needsBinaryLabels: true,
    value: (evaluation, at) => meanAveragePrecision(evaluation.ranked(at)),
  },
  {
    ...ofPlaces,
    name: "pre",
    about: "precision at k",
    needsBinaryLabels: true,
    value: (evaluation, at) => precision(evaluation.ranked(at)),
  },
] as const satisfies readonly Metric[];

export interface RankedRows {
  readonly scores: Float64Array;
  readonly labels: Float64Array;
  readonly groups: Float64Array;
  /** All rows of a group have its weight; null or left out: all groups count once. */
  readonly weights?: Weights;
  /** Places that count, from the best on; Infinity: all. */
  readonly places: number;
}

/** Normalised discounted cumulative gain of 2^label - 1, always, as in XGBoost; 1 of a group without any gain. */
export function ndcg(rows: RankedRows): number {
  return overGroups(rows, (labels) => {
    const ideal = idealGain(labels, rows.places, true);
    return ideal === 0 ? 1 : discountedGain(labels, rows.places, true) / ideal;
  });
}

/** Mean average precision of labels 0 and 1; 1 of a group without a 1. */
export function meanAveragePrecision(rows: RankedRows): number {
  return overGroups(rows, (labels) => {
    let hits = 0;
    let sum = 0;
    labels.forEach((label, place) => {
      hits += label;
      if (place < rows.places) sum += (label * hits) / (place + 1);
    });
    return hits === 0 ? 1 : sum / Math.min(hits, rows.places);
  });
}

/** The fraction of 1 among the first places. */
export function precision(rows: RankedRows): number {
  return overGroups(rows, (labels) => {
    const first = labels.slice(0, Math.min(labels.length, rows.places));
    return first.reduce((sum, label) => sum + label, 0) / first.length;
  });
}

/** @param of labels of a group from the highest score down */
function overGroups(
  { scores, labels, groups, weights }: RankedRows,
  of: (labels: readonly number[]) => number,
): number {
  let [sum, total] = [0, 0];
  for (const rows of rankGroups(groups, null)) {
    const weight = weights?.[rows[0]] ?? 1;
    sum += weight * of(Array.from(ranked(rows, scores), (row) => labels[row]));
    total += weight;
  }
  return sum / total;
}
