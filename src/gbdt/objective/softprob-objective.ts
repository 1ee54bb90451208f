/**
 * Several classes, a probability for each; as XGBoost 1.7, src/objective/multiclass_obj.cu. All K gradient pairs of an
 * instance go into its plaintexts together (the paper's method for d = 2K).
 */
import { TandemError } from "../../base/error.ts";
import type { Objective } from "./objective.ts";

/** XGBoost's floor for a hessian. */
const hessianMin = 1e-16;

export const softprob: Objective = {
  name: "multi:softprob",
  outputCount({ num_class: classes }) {
    if (classes >= 2) return classes;
    throw new TandemError("USAGE", "multi:softprob needs num_class, the number of classes: 2 or more");
  },
  bounds: () => ({ g: { min: -1, max: 1 }, h: { min: 0, max: 0.5 } }),
  gradients(margins, labels, { num_class: classes }) {
    const slots = Array.from({ length: 2 * classes }, () => new Float64Array(labels.length));
    const probabilities = softmax(margins, classes);
    for (let i = 0; i < labels.length; i++) {
      for (let k = 0; k < classes; k++) {
        const p = probabilities[i * classes + k];
        slots[2 * k][i] = labels[i] === k ? p - 1 : p;
        slots[2 * k + 1][i] = Math.max(2 * p * (1 - p), hessianMin);
      }
    }
    return slots;
  },
  predictions: softmax,
  /** A margin that all classes start from: it cancels out. */
  baseMargin(baseScore) {
    if (Number.isFinite(baseScore)) return baseScore;
    throw new TandemError("USAGE", "base_score must be a finite number");
  },
  checkLabels(labels, { num_class: classes }) {
    const bad = labels.findIndex((label) => !Number.isInteger(label) || label < 0 || label >= classes);
    if (bad >= 0)
      throw new TandemError(
        "LABEL_INVALID",
        `the label of instance ${bad} is not one of the classes 0 to ${classes - 1}`,
      );
    if (labels.every((label) => label === labels[0]))
      throw new TandemError("LABEL_INVALID", "all labels are the same class; multi:softprob needs several");
  },
};

/** Row by row; the largest margin is taken off first, so that nothing overflows. */
function softmax(margins: Float64Array, classes: number): Float64Array {
  const probabilities = new Float64Array(margins.length);
  for (let row = 0; row < margins.length; row += classes) {
    let largest = -Infinity;
    for (let k = 0; k < classes; k++) largest = Math.max(largest, margins[row + k]);
    let sum = 0;
    for (let k = 0; k < classes; k++) sum += probabilities[row + k] = Math.exp(margins[row + k] - largest);
    for (let k = 0; k < classes; k++) probabilities[row + k] /= sum;
  }
  return probabilities;
}
