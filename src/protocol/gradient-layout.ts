/**
 * The slot layout of one tree's gradients: from the objective's bounds where they exist, otherwise from the actual
 * range rounded up to a power of two. The widths depend on the number of instances only, never on the gradients, so
 * that a layout's width tells a passive party nothing.
 */
import { TandemError } from "../base/error.ts";
import type { CodecParameters } from "../base/parameters.ts";
import type { QuantisedGradients } from "../base/quantised-gradients.ts";
import { quantise } from "../codec/batch-codec.ts";
import { autoSlots, buildLayout, type GradientLayout, paperSlots, type ValueBounds } from "../codec/layout.ts";
import type { Objective } from "../gbdt/objective.ts";

export function gradientLayout(
  objective: Objective,
  parameters: CodecParameters,
  plaintextBitsMax: number,
  g: Float64Array,
  h: Float64Array,
): GradientLayout {
  const slots =
    parameters.layout === "paper"
      ? paperSlots(parameters, 2, g.length)
      : autoSlots(parameters, [objective.bounds.g ?? rangeOf(g), objective.bounds.h ?? rangeOf(h)], g.length);
  return buildLayout(parameters.codec, slots, g.length, plaintextBitsMax);
}

/** Far from where the arithmetic of slots and gains would leave the range of doubles. */
const magnitudeMin = 2 ** -400;
const magnitudeMax = 2 ** 400;

/** Symmetric around zero and a power of two wide: the slot's width does not depend on the values. */
function rangeOf(values: Float64Array): ValueBounds {
  let magnitude = 0;
  for (const value of values) magnitude = Math.max(magnitude, Math.abs(value));
  if (!(magnitude <= magnitudeMax)) {
    throw new TandemError("LAYOUT_RANGE", "the gradients are too large to be quantised; scale the labels down");
  }
  if (magnitude === 0) return { min: -1, max: 1 };
  if (magnitude < magnitudeMin) return { min: -magnitudeMin, max: magnitudeMin };
  let bound = 2 ** Math.floor(Math.log2(magnitude));
  while (bound < magnitude) bound *= 2; // log2 rounds: just above a power of two it gives that power
  return { min: -bound, max: bound };
}

/** The quantiser that centralised training shares with the federated one. */
export function quantiserFor(
  objective: Objective,
  parameters: CodecParameters,
  plaintextBitsMax: number,
): (g: Float64Array, h: Float64Array) => QuantisedGradients {
  return (g, h) => quantise(gradientLayout(objective, parameters, plaintextBitsMax, g, h), [g, h]);
}
