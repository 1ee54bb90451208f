/**
 * The tree weights after a round of dart (XGBoost's normalize_type): the new trees and the dropped ones together would
 * overshoot. Weights are float32 numbers as in XGBoost, so that exports equal the trained model.
 */
import type { TrainingParameters } from "../../parameters/training-parameters.ts";

type Normalisation = Pick<TrainingParameters, "eta" | "normalize_type">;

/** @param dropped indices in `weights` @param added number of trees of the round, over all outputs */
export function weightsAfter(
  weights: readonly number[],
  dropped: readonly number[],
  added: number,
  { eta, normalize_type: type }: Normalisation,
): number[] {
  const rate = Math.fround(Math.fround(eta) / added);
  const { ofDropped, ofNew } = factors(dropped.length, rate, type);
  const after = [...weights];
  for (const tree of dropped) after[tree] = Math.fround(after[tree] * ofDropped);
  for (let i = 0; i < added; i++) after.push(ofNew);
  return after;
}

function factors(
  dropped: number,
  rate: number,
  type: Normalisation["normalize_type"],
): { readonly ofDropped: number; readonly ofNew: number } {
  if (dropped === 0) return { ofDropped: 1, ofNew: 1 };
  if (type === "forest") {
    const factor = Math.fround(1 / (1 + rate));
    return { ofDropped: factor, ofNew: factor };
  }
  const sum = Math.fround(dropped + rate);
  return { ofDropped: Math.fround(dropped / sum), ofNew: Math.fround(1 / sum) };
}
