/**
 * Which instances a tree is trained on. Sampling is seeded: seed, tree and gradients determine the sample.
 *
 * - uniform: `subsample` of all instances, without replacement.
 * - goss (gradient-based one-side sampling, LightGBM): the `top_rate` of instances with the largest |g|, and
 *   `other_rate` of all instances, drawn from the rest. Gradients of the drawn ones are multiplied by
 *   (1 - top_rate) / other_rate, so that sums are unbiased.
 */
import { TandemError } from "../../base/error.ts";
import type { TrainingParameters } from "../parameters/training-parameters.ts";
import { SeededRandom } from "../../base/random.ts";
import type { RealGradients } from "../../base/gradients/real-gradients.ts";

export interface SampledGradients extends RealGradients {
  /** Ascending; null: all instances. */
  readonly sample: Uint32Array | null;
}

/** @throws TandemError USAGE for contradictory rates */
export function checkSampling(parameters: TrainingParameters): void {
  const { sampling_method: method, subsample, top_rate: top, other_rate: other } = parameters;
  if (method === "goss" && top + other > 1)
    throw new TandemError("USAGE", "top_rate and other_rate must not add up to more than 1");
  if (method === "goss" && subsample < 1)
    throw new TandemError("USAGE", "subsample needs sampling_method uniform. For goss set top_rate and other_rate");
}

/**
 * @param round trees that share their gradients share their sample
 * @param training the rows to draw from; null: all
 */
export function sampleRows(
  parameters: TrainingParameters,
  round: number,
  gradients: RealGradients,
  training: Uint32Array | null = null,
): SampledGradients {
  const { sampling_method: method, subsample, seed } = parameters;
  if (method === "uniform" && subsample === 1 && training === null) return { ...gradients, sample: null };
  const allInstances = training ?? Uint32Array.from({ length: gradients.values[0].length }, (_, i) => i);
  const random = new SeededRandom(`rows/${seed}/${round}`);
  return method === "goss"
    ? goss(parameters, gradients, allInstances, random)
    : uniform(subsample, gradients, allInstances, random);
}

function uniform(
  subsample: number,
  gradients: RealGradients,
  allInstances: Uint32Array,
  random: SeededRandom,
): SampledGradients {
  const count = allInstances.length;
  const sample =
    subsample === 1 ? allInstances : drawn(allInstances, Math.max(1, Math.round(subsample * count)), random).sort();
  return { values: gradients.values.map((column) => kept(column, sample)), bounds: gradients.bounds, sample };
}

function goss(
  { top_rate: top, other_rate: other }: TrainingParameters,
  { values, bounds }: RealGradients,
  allInstances: Uint32Array,
  random: SeededRandom,
): SampledGradients {
  const count = allInstances.length;
  const size = new Float64Array(values[0].length);
  for (let slot = 0; slot < values.length; slot += 2)
    for (const i of allInstances) size[i] += Math.abs(values[slot][i]);
  const order = allInstances.slice().sort((i, j) => size[j] - size[i] || i - j);
  const topCount = Math.max(1, Math.round(top * count));
  const rest = drawn(order.slice(topCount), Math.round(other * count), random);
  const sample = Uint32Array.from([...order.subarray(0, topCount), ...rest]).sort();
  const factor = (1 - top) / other;
  const weighted = values.map((column) => {
    const sampled = kept(column, sample);
    for (const row of rest) sampled[row] *= factor;
    return sampled;
  });
  // A power of two, so that the width of a slot does not change.
  const scale = 2 ** Math.max(0, Math.ceil(Math.log2(factor)));
  return {
    values: weighted,
    bounds: bounds.map((range) => range && { min: range.min * scale, max: range.max * scale }),
    sample,
  };
}

/** The first steps of a Fisher-Yates shuffle. */
function drawn(items: Uint32Array, wanted: number, random: SeededRandom): Uint32Array {
  const pool = items.slice();
  const count = Math.min(wanted, pool.length);
  for (let i = 0; i < count; i++) {
    const j = i + random.below(pool.length - i);
    const held = pool[i];
    pool[i] = pool[j];
    pool[j] = held;
  }
  return pool.slice(0, count);
}

/** Zero outside the sample: these are never summed, and must not widen the range. */
function kept(column: Float64Array, sample: Uint32Array): Float64Array {
  const values = new Float64Array(column.length);
  for (const row of sample) values[row] = column[row];
  return values;
}
