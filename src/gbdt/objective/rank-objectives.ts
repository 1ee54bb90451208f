/**
 * Ranking within groups: LambdaMART as in XGBoost 2.1 (src/objective/lambdarank_obj.cc), with its deterministic pairs:
 * each of the top positions by score against all below it. Rows of one qid form a group; only training rows count.
 *
 * Bounds: none can be stated, since a row's gradient grows with the size of its group; see log-link-objectives.ts for
 * how the range is chosen then.
 */
import { TandemError } from "../../base/error.ts";
import type { ParameterSpec } from "../../base/parameters/parameter-spec.ts";
import type { LearningParameters } from "../parameters/learning-parameters.ts";
import { requireFinite, requireLabels } from "./label-checks.ts";
import { identity, sigmoid } from "./link.ts";
import type { Objective } from "./objective.ts";
import { discountAt, relevanceGain, idealGain, ranked, rankGroups } from "./rank-groups.ts";

export const rankParameters = {
  lambdarank_num_pair_per_sample: {
    kind: "integer",
    default: 32,
    min: 1,
    max: 4294967295,
    help: "how many of the highest places are compared with all below them",
  },
  lambdarank_normalization: {
    kind: "switch",
    default: true,
    help: "scale the gradients of each group by their sum",
  },
  ndcg_exp_gain: {
    kind: "switch",
    default: true,
    help: "use 2^label - 1 instead of the label as its gain",
  },
} as const satisfies Record<string, ParameterSpec>;

const hessianMin = 1e-16;
/** XGBoost's: a label is an exponent. */
const labelMax = 31;

export const rankObjectives = [
  {
    ...ranking(() => () => 1),
    name: "rank:pairwise",
    about: { labels: "numbers", prediction: "a score", baseScore: "a score" },
    parameters: ["lambdarank_num_pair_per_sample", "lambdarank_normalization"],
    checkLabels: requireFinite,
  },
  {
    ...ranking(changeOfNdcg),
    name: "rank:ndcg",
    about: { labels: `0 to ${labelMax}`, prediction: "a score", baseScore: "a score" },
    parameters: ["lambdarank_num_pair_per_sample", "lambdarank_normalization", "ndcg_exp_gain"],
    checkLabels(labels, { ndcg_exp_gain: isExponential }) {
      requireFinite(labels);
      const needs = isExponential ? `a whole number from 0 to ${labelMax}` : "0 or above";
      const isAllowed = (label: number): boolean =>
        label >= 0 && (!isExponential || (Number.isInteger(label) && label <= labelMax));
      requireLabels(labels, isAllowed, `is not ${needs}, as rank:ndcg needs`);
    },
  },
] as const satisfies readonly Objective[];

/** How much a metric changes if the rows at two positions are swapped. */
type Change = (high: number, low: number, highPlace: number, lowPlace: number) => number;

function ranking(changeIn: (labels: readonly number[], parameters: LearningParameters) => Change) {
  return {
    kind: "rank",
    link: identity,
    metrics: ["ndcg@32"],
    xgboost: {
      since: "1.7",
      parameters: () => ({ lambdarank_param: { lambdarank_pair_method: "topk" }, lambda_rank_param: {} }),
    },
    takes: ["qid"],
    checkVariety: requireSomeOrder,
    bounds: () => ({ g: null, h: null }),
    gradients(margins, labels, parameters, rows) {
      const g = new Float64Array(margins.length);
      const h = new Float64Array(margins.length);
      const groups = rows?.columns.qid ?? new Float64Array(labels.length);
      for (const group of rankGroups(groups, rows?.training ?? null)) {
        const change = changeIn(
          Array.from(group, (row) => labels[row]),
          parameters,
        );
        addGroup(g, h, ranked(group, margins), { margins, labels, parameters, change });
      }
      return [g, h];
    },
  } as const satisfies Partial<Objective>;
}

interface Ranked {
  readonly margins: Float64Array;
  readonly labels: Float64Array;
  readonly parameters: LearningParameters;
  readonly change: Change;
}

/** @param order the group's rows by descending score */
function addGroup(g: Float64Array, h: Float64Array, order: Uint32Array, asked: Ranked): void {
  const { margins, labels, parameters, change } = asked;
  const isSpread = margins[order[0]] !== margins[order[order.length - 1]];
  let sum = 0;
  for (let i = 0; i < Math.min(order.length, parameters.lambdarank_num_pair_per_sample); i++) {
    for (let j = i + 1; j < order.length; j++) {
      if (labels[order[i]] === labels[order[j]]) continue;
      const [high, low] = labels[order[i]] > labels[order[j]] ? [i, j] : [j, i];
      const [better, worse] = [order[high], order[low]];
      const distance = margins[better] - margins[worse];
      const p = sigmoid(distance);
      const size = Math.abs(change(labels[better], labels[worse], high, low));
      const scaled = isSpread ? size / (Math.abs(distance) + 0.01) : size;
      const lambda = (p - 1) * scaled;
      const bend = Math.max(p * (1 - p), hessianMin) * scaled * 2;
      g[better] += lambda;
      g[worse] -= lambda;
      h[better] += bend;
      h[worse] += bend;
      sum -= 2 * lambda;
    }
  }
  if (!parameters.lambdarank_normalization || !(sum > 0)) return;
  const norm = Math.log2(1 + sum) / sum;
  for (const row of order) {
    g[row] *= norm;
    h[row] *= norm;
  }
}

function changeOfNdcg(
  labels: readonly number[],
  { ndcg_exp_gain: isExponential, lambdarank_num_pair_per_sample: places }: LearningParameters,
): Change {
  const ideal = idealGain(labels, places, isExponential);
  const inverse = ideal === 0 ? 0 : 1 / ideal;
  return (high, low, highPlace, lowPlace) =>
    (relevanceGain(high, isExponential) - relevanceGain(low, isExponential)) *
    (discountAt(highPlace) - discountAt(lowPlace)) *
    inverse;
}

function requireSomeOrder(labels: Float64Array): void {
  if (labels.every((label) => label === labels[0]))
    throw new TandemError("LABEL_INVALID", "all labels are the same: there is no order to learn");
}
