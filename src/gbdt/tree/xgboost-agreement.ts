/** How closely XGBoost predicts with an exported model: the same leaves, added up in float32. */

/** The largest difference, relative to max(1, |prediction|): float32 has 24 bits. */
export const predictionTolerance = 1e-6;

const shown = predictionTolerance.toExponential();
export const agreementWords = `XGBoost predicts the same to ${shown}, relative to max(1, |prediction|)`;

/** The largest difference of predictions, counted so. */
export function worstDifference(ours: ArrayLike<number>, theirs: ArrayLike<number>): number {
  let worst = 0;
  for (let row = 0; row < ours.length; row++)
    worst = Math.max(worst, Math.abs(theirs[row] - ours[row]) / Math.max(1, Math.abs(ours[row])));
  return worst;
}
