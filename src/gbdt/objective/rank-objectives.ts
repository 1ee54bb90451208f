/**
 * Ranking within groups: LambdaMART as XGBoost 2.1 has it (src/objective/lambdarank_obj.cc), with its deterministic
 * pairs: each of the highest places by score against everybody below it. Rows of one qid are a group; only those that
 * are learnt from count.
 *
 * Bounds: none can be stated, since a row's gradient grows with the size of its group; see log-link-objectives.ts for
 * what is done without.
 */
import { TandemError } from "../../base/error.ts";
import { finiteMargin, sigmoid } from "./logistic-objectives.ts";
import type { Objective, ObjectiveName, ObjectiveParameters } from "./objective.ts";
import { discountAt, gainOf, idealGain, ranked, rankGroups } from "./rank-groups.ts";
import { requireFinite } from "./regression-objectives.ts";

const hessianMin = 1e-16;
/** XGBoost's: a label is an exponent. */
const labelMax = 31;

/** How much a metric changes if the rows at two places change places. */
type Change = (high: number, low: number, highPlace: number, lowPlace: number) => number;

export const rankPairwise: Objective = {
  ...ranking("rank:pairwise", () => () => 1),
  checkLabels: requireFinite,
};

export const rankNdcg: Objective = {
  ...ranking("rank:ndcg", changeOfNdcg),
  checkLabels(labels, { ndcg_exp_gain: isExponential }) {
    requireFinite(labels);
    const bad = labels.findIndex(
      (label) => label < 0 || (isExponential && (!Number.isInteger(label) || label > labelMax)),
    );
    if (bad < 0) return;
    const needs = isExponential ? `a whole number from 0 to ${labelMax}` : "0 or above";
    throw new TandemError("LABEL_INVALID", `the label of instance ${bad} is not ${needs}, as rank:ndcg needs`);
  },
};

function ranking(
  name: ObjectiveName,
  changeIn: (labels: readonly number[], parameters: ObjectiveParameters) => Change,
): Omit<Objective, "checkLabels"> {
  return {
    name,
    kind: "rank",
    takes: ["qid"],
    checkVariety: requireSomeOrder,
    outputCount: () => 1,
    bounds: () => ({ g: null, h: null }),
    gradients(margins, labels, parameters, rows) {
      const g = new Float64Array(margins.length);
      const h = new Float64Array(margins.length);
      const groups = rows?.columns.qid ?? new Float64Array(labels.length);
      for (const group of rankGroups(groups, rows?.trainingRows ?? null)) {
        const change = changeIn(
          Array.from(group, (row) => labels[row]),
          parameters,
        );
        addGroup(g, h, ranked(group, margins), { margins, labels, parameters, change });
      }
      return [g, h];
    },
    predictions: (margins) => margins.slice(),
    baseMargin: finiteMargin,
  };
}

interface Ranked {
  readonly margins: Float64Array;
  readonly labels: Float64Array;
  readonly parameters: ObjectiveParameters;
  readonly change: Change;
}

/** @param order the group's rows from the highest score down */
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
  { ndcg_exp_gain: isExponential, lambdarank_num_pair_per_sample: places }: ObjectiveParameters,
): Change {
  const ideal = idealGain(labels, places, isExponential);
  const inverse = ideal === 0 ? 0 : 1 / ideal;
  return (high, low, highPlace, lowPlace) =>
    (gainOf(high, isExponential) - gainOf(low, isExponential)) *
    (discountAt(highPlace) - discountAt(lowPlace)) *
    inverse;
}

function requireSomeOrder(labels: Float64Array): void {
  if (labels.every((label) => label === labels[0]))
    throw new TandemError("LABEL_INVALID", "all labels are the same: there is no order to learn");
}
