/**
 * Several classes, predicted as a probability for each or as the likeliest; as XGBoost 1.7,
 * src/objective/multiclass_obj.cu. All K gradient pairs of an instance go into its plaintexts together (the paper's
 * method for d = 2K).
 *
 * Bounds: p lies in [0, 1], so p - 1 and p lie in [-1, 1], and 2 p (1 - p) is at most 1/2.
 */
import { TandemError } from "../../base/error.ts";
import { finiteMargin } from "./logistic-objectives.ts";
import type { Objective, ObjectiveName } from "./objective.ts";

/** XGBoost's floor for a hessian. */
const hessianMin = 1e-16;

export const softprob: Objective = {
  ...ofClasses("multi:softprob"),
  predictions: probabilities,
};

export const softmax: Objective = {
  ...ofClasses("multi:softmax"),
  predictsOne: true,
  predictions: (margins, classes) =>
    Float64Array.from({ length: margins.length / classes }, (_, row) => likeliest(margins, row * classes, classes)),
  evaluated: probabilities,
};

function ofClasses(name: ObjectiveName): Omit<Objective, "predictions"> {
  return {
    name,
    kind: "classes",
    outputCount({ num_class: classes }) {
      if (classes >= 2) return classes;
      throw new TandemError("USAGE", `${name} needs num_class, the number of classes: 2 or more`);
    },
    bounds: () => ({ g: { min: -1, max: 1 }, h: { min: 0, max: 0.5 } }),
    gradients: (margins, labels, { num_class: classes }) => gradientsOf(margins, labels, classes),
    /** A margin that all classes start from: it cancels out. */
    baseMargin: finiteMargin,
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
  };
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

/** Row by row; the largest margin is taken off first, so that nothing overflows. */
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
