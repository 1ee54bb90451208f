/**
 * Several classes, predicted as a probability for each or as the likeliest; as XGBoost 1.7,
 * src/objective/multiclass_obj.cu. All K gradient pairs of an instance go into its plaintexts together (the paper's
 * method for d = 2K).
 *
 * Bounds: p lies in [0, 1], so p - 1 and p lie in [-1, 1], and 2 p (1 - p) is at most 1/2.
 */
import { TandemError } from "../../base/error.ts";
import { choice, type ParameterSpec } from "../../base/parameters/parameter-spec.ts";
import { identity } from "./link.ts";
import type { Objective } from "./objective.ts";

export const softmaxParameters = {
  num_class: {
    kind: "integer",
    default: 0,
    min: 0,
    max: 1000,
    refusedElsewhere: "Leave it out, or train multi:softprob",
    help: "number of classes; labels are 0 to num_class - 1",
  },
  multi_strategy: choice(
    ["one_output_per_tree", "multi_output_tree"],
    "one_output_per_tree",
    "a tree per class and round, or one tree per round with a weight per class in each leaf",
  ),
} as const satisfies Record<string, ParameterSpec>;

/** XGBoost's floor for a hessian. */
const hessianMin = 1e-16;

export const softmaxObjectives = [
  {
    ...ofClasses("multi:softprob"),
    about: { labels: "classes, from 0", prediction: "a probability per class", baseScore: "no effect" },
    predictions: probabilities,
  },
  {
    ...ofClasses("multi:softmax"),
    about: { labels: "classes, from 0", prediction: "the most probable class", baseScore: "no effect" },
    predictsOne: true,
    predictions: (margins, classes) =>
      Float64Array.from({ length: margins.length / classes }, (_, row) => likeliest(margins, row * classes, classes)),
    evaluated: probabilities,
  },
] as const satisfies readonly Objective[];

function ofClasses<N extends string>(name: N) {
  return {
    name,
    kind: "classes",
    /** A margin common to all classes cancels out. */
    link: identity,
    metrics: ["merror", "mlogloss"],
    parameters: ["num_class", "multi_strategy"],
    xgboost: {
      since: "1.7",
      parameters: ({ outputCount }) => ({ softmax_multiclass_param: { num_class: String(outputCount) } }),
    },
    outputCount: ({ num_class: classes }) => classes,
    checkParameters({ num_class: classes }) {
      if (classes < 2) throw new TandemError("USAGE", `${name} needs num_class, the number of classes: 2 or more`);
    },
    bounds: () => ({ g: { min: -1, max: 1 }, h: { min: 0, max: 0.5 } }),
    gradients: (margins, labels, { num_class: classes }) => gradientsOf(margins, labels, classes),
    checkLabels(labels, { num_class: classes }) {
      const bad = labels.findIndex((label) => !Number.isInteger(label) || label < 0 || label >= classes);
      if (bad >= 0)
        throw new TandemError(
          "LABEL_INVALID",
          `the label of instance ${bad} is not one of the classes 0 to ${classes - 1}`,
        );
    },
    checkVariety(labels) {
      if (labels.every((label) => label === labels[0]))
        throw new TandemError("LABEL_INVALID", `all labels are the same class; ${name} needs several`);
    },
  } as const satisfies Partial<Objective>;
}

function gradientsOf(margins: Float64Array, labels: Float64Array, classes: number): Float64Array[] {
  const slots = Array.from({ length: 2 * classes }, () => new Float64Array(labels.length));
  const all = probabilities(margins, classes);
  for (let i = 0; i < labels.length; i++) {
    for (let k = 0; k < classes; k++) {
      const p = all[i * classes + k];
      slots[2 * k][i] = labels[i] === k ? p - 1 : p;
      slots[2 * k + 1][i] = Math.max(2 * p * (1 - p), hessianMin);
    }
  }
  return slots;
}

/** The lowest class of the largest number. */
function likeliest(numbers: Float64Array, first: number, classes: number): number {
  let best = 0;
  for (let k = 1; k < classes; k++) if (numbers[first + k] > numbers[first + best]) best = k;
  return best;
}

/** Row by row; the largest margin is subtracted first, so that nothing overflows. */
function probabilities(margins: Float64Array, classes: number): Float64Array {
  const all = new Float64Array(margins.length);
  for (let row = 0; row < margins.length; row += classes) {
    let largest = -Infinity;
    for (let k = 0; k < classes; k++) largest = Math.max(largest, margins[row + k]);
    let sum = 0;
    for (let k = 0; k < classes; k++) sum += all[row + k] = Math.exp(margins[row + k] - largest);
    for (let k = 0; k < classes; k++) all[row + k] /= sum;
  }
  return all;
}
