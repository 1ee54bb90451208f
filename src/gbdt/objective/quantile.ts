/** Quantiles as XGBoost 2.1 computes them (src/common/stats.h). */

/**
 * Without weights: interpolated between the two values next to the quantile's position among n + 1 (NIST's handbook,
 * 7.2.6.2). With weights: the first value, in ascending order, at which that share of the weight is reached.
 * @returns NaN if there are no values
 */
export function quantileOf(values: Float64Array, weights: Float64Array | null, alpha: number): number {
  if (values.length === 0) return NaN;
  if (weights === null) return plainQuantile(values.slice().sort(), alpha);
  const order = Uint32Array.from(values, (_, i) => i).sort((i, j) => values[i] - values[j] || i - j);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let below = 0;
  for (const i of order) {
    below += weights[i];
    if (below >= total * alpha) return values[i];
  }
  return values[order[order.length - 1]];
}

function plainQuantile(sorted: Float64Array, alpha: number): number {
  const count = sorted.length;
  if (alpha <= 1 / (count + 1)) return sorted[0];
  if (alpha >= count / (count + 1)) return sorted[count - 1];
  const place = alpha * (count + 1) - 1;
  const first = Math.floor(place);
  return sorted[first] + (place - first) * (sorted[first + 1] - sorted[first]);
}
