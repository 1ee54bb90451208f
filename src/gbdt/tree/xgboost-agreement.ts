/** Which XGBoost predicts with an exported model, and how closely: the same leaves, added up in float32. */
import type { ObjectiveName } from "../objective/objective.ts";

/** The largest difference, relative to max(1, |prediction|): float32 has 24 bits. */
export const predictionTolerance = 1e-6;

const shown = predictionTolerance.toExponential();
const closeness = `predicts the same to ${shown}, relative to max(1, |prediction|)`;
export const agreementWords = `XGBoost ${closeness}`;

/** The earliest that knows the objective: others refuse the file. */
export function earliestXgboost(objective: ObjectiveName): string {
  return objective === "reg:quantileerror" ? "2.0" : "1.7";
}

/** Of the file of one model. */
export function exportWords(objective: ObjectiveName): string {
  return `XGBoost ${earliestXgboost(objective)} or later ${closeness}`;
}

/** The largest difference of predictions, counted so. */
export function worstDifference(ours: ArrayLike<number>, theirs: ArrayLike<number>): number {
  let worst = 0;
  for (let row = 0; row < ours.length; row++)
    worst = Math.max(worst, Math.abs(theirs[row] - ours[row]) / Math.max(1, Math.abs(ours[row])));
  return worst;
}
