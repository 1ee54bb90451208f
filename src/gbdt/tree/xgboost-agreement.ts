/** Which XGBoost version predicts with an exported model, and how closely: the same leaves, summed in float32. */
import { TandemError } from "../../base/error.ts";
import { log } from "../objective/link.ts";
import type { Objective, XgboostForm } from "../objective/objective.ts";
import { namesOf, type ObjectiveName, objectiveFor, objectives } from "../objective/objectives.ts";

/**
 * The largest difference, relative to max(1, |prediction|): float32 has 24 bits. Where a prediction is the exponential
 * of a margin, the margin's error is the relative error of the prediction, and float32 rounds a margin of 10 to 1e-6.
 */
export function predictionTolerance(objective: ObjectiveName): number {
  return objectiveFor(objective).link === log ? 1e-5 : 1e-6;
}

/** @throws TandemError USAGE if XGBoost has no such objective */
export function requireXgboostForm({ name, xgboost }: Pick<Objective, "name" | "xgboost">): XgboostForm {
  if (xgboost !== null) return xgboost;
  throw new TandemError("USAGE", `XGBoost has no objective ${name}: the model cannot be exported. Predict with Tandem`);
}

/** The earliest version that supports the objective: older ones reject the file. */
export function earliestXgboost(objective: ObjectiveName): string {
  return requireXgboostForm(objectiveFor(objective)).since;
}

/** A sentence about the file of one model. */
export function exportWords(objective: ObjectiveName): string {
  const tolerance = predictionTolerance(objective).toExponential();
  return (
    `XGBoost ${earliestXgboost(objective)} or later predicts the same to ${tolerance}, ` +
    "relative to max(1, |prediction|)"
  );
}

/** A phrase about all exported models: "XGBoost 1.7 or later (reg:quantileerror: 2.0)". */
export function versionWords(): string {
  const since = new Map<string, Objective[]>();
  for (const objective of objectives) {
    const version = objective.xgboost?.since ?? "not at all";
    since.set(version, [...(since.get(version) ?? []), objective]);
  }
  const [[usual], ...others] = [...since].sort(([, a], [, b]) => b.length - a.length);
  const exceptions = others.map(([version, some]) => `${namesOf(some).join(", ")}: ${version}`).join("; ");
  return `XGBoost ${usual} or later${exceptions === "" ? "" : ` (${exceptions})`}`;
}

/** The largest difference of predictions by this measure. */
export function worstDifference(ours: ArrayLike<number>, theirs: ArrayLike<number>): number {
  let worst = 0;
  for (let row = 0; row < ours.length; row++)
    worst = Math.max(worst, Math.abs(theirs[row] - ours[row]) / Math.max(1, Math.abs(ours[row])));
  return worst;
}
