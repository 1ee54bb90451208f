/**
 * The slot layout of one tree's gradients. It is based on the objective's bounds if they exist, otherwise on the actual
 * range, rounded up to a power of two. The widths depend on the number of instances only, never on the gradients: a
 * layout's width reveals nothing to a passive party.
 */
import { TandemError } from "../base/error.ts";
import type { NoiseScale } from "../base/noise/noise-scale.ts";
import type { CodecParameters } from "../base/parameters/parameters.ts";
import type { QuantisedGradients } from "../base/gradients/quantised-gradients.ts";
import { quantise } from "./batch-codec.ts";
import { clippedGradients } from "./clipped-gradients.ts";
import { maskBitsOf } from "./masked-sums.ts";
import { autoSlots, buildLayout, type GradientLayout, paperSlots } from "./layout.ts";
import type { Range, RealGradients } from "../base/gradients/real-gradients.ts";

export function gradientLayout(
  parameters: CodecParameters,
  plaintextBitsMax: number,
  { values, bounds }: RealGradients,
  noise: NoiseScale | null = null,
  hidesCounts = noise !== null,
  masksSums = false,
): GradientLayout {
  const instanceCount = values[0].length;
  if (hidesCounts && parameters.layout === "paper")
    throw new TandemError("USAGE", "the paper's layout needs counts, which are not sent in this job. Use layout auto");
  const maskBits = masksSums ? maskBitsOf(parameters.resolution_bits, instanceCount) : 0;
  const grid = hidesCounts ? { unit: 2 ** parameters.resolution_bits, max: noise?.max ?? 0, maskBits } : null;
  const slots =
    parameters.layout === "paper"
      ? paperSlots(parameters, values.length, instanceCount)
      : autoSlots(parameters, ranges({ values, bounds }), instanceCount, grid);
  return buildLayout(parameters.codec, slots, instanceCount, plaintextBitsMax, noise, hidesCounts);
}

/** The gradients of a round, and the layout of those that are sent. */
export interface RoundGradients {
  readonly gradients: QuantisedGradients;
  readonly layout: GradientLayout;
}

/** Rounds the gradients of a round to the grid; with noise a second time, clipped, for what is sent. */
export function quantiseRound(
  parameters: CodecParameters,
  plaintextBitsMax: number,
  real: RealGradients,
  noise: NoiseScale | null = null,
  hidesCounts = noise !== null,
  masksSums = false,
): RoundGradients {
  const layoutOf = (given: RealGradients): GradientLayout =>
    gradientLayout(parameters, plaintextBitsMax, given, noise, hidesCounts, masksSums);
  const layout = layoutOf(real);
  const gradients = quantise(layout, real.values);
  const clipped = noise === null ? null : clippedGradients(real, ranges(real));
  if (clipped === null) return { gradients, layout };
  const sentLayout = layoutOf(clipped);
  return { gradients: { ...gradients, sent: quantise(sentLayout, clipped.values) }, layout: sentLayout };
}

function ranges({ values, bounds }: RealGradients): Range[] {
  return values.map((column, slot) => bounds[slot] ?? rangeOf(column, slot % 2 === 1));
}

/** Far below the range in which the arithmetic of slots and gains would overflow doubles. */
const magnitudeMin = 2 ** -400;
const magnitudeMax = 2 ** 400;

/** Symmetric for gradients, up to a power of two: the slot's width does not depend on the values. */
function rangeOf(values: Float64Array, isHessian: boolean): Range {
  const max = powerAbove(values);
  return { min: isHessian ? 0 : -max, max };
}

function powerAbove(values: Float64Array): number {
  let magnitude = 0;
  for (const value of values) magnitude = Math.max(magnitude, Math.abs(value));
  if (!(magnitude <= magnitudeMax)) {
    throw new TandemError("LAYOUT_RANGE", "the gradients are too large to be quantised. Scale the labels down");
  }
  if (magnitude === 0) return 1;
  if (magnitude < magnitudeMin) return magnitudeMin;
  let bound = 2 ** Math.floor(Math.log2(magnitude));
  while (bound < magnitude) bound *= 2; // log2 rounds: just above a power of two it gives that power
  return bound;
}

/** The quantiser that centralised training shares with the federated one. */
export function quantiserFor(
  parameters: CodecParameters,
  plaintextBitsMax: number,
  noise: NoiseScale | null = null,
  hidesCounts = noise !== null,
  masksSums = false,
): (gradients: RealGradients) => QuantisedGradients {
  return (real) => quantiseRound(parameters, plaintextBitsMax, real, noise, hidesCounts, masksSums).gradients;
}
