/**
 * The layout that follows from a job's parameters, without its gradients: a passive party derives it from what was
 * agreed, so that the active party cannot claim another. A malicious active party with plaintexts wider than sums of
 * gradients need could mark instances by single bits, and read them from the sums.
 *
 * The number and widths of plaintexts equal the job's to the bit: no width depends on the gradients, nor on their
 * bounds. Shifts and resolutions are known to the active party only.
 */
import { toNoiseScale, type NoiseScale } from "../base/noise/noise-scale.ts";
import { codecWith } from "../base/parameters/parameters.ts";
import { maskBitsOf } from "./masked-sums.ts";
import { autoSlots, buildLayout, type GradientLayout } from "./layout.ts";
import type { Slot } from "./slot.ts";

/** The agreed terms. */
export interface LayoutTerms {
  readonly codec: string;
  /** 0: the paper's layout, whose slots have `slotBits` information bits. */
  readonly resolutionBits: number;
  readonly slotBits: number;
  readonly padding: number;
  /** Pairs of g and h of an instance. */
  readonly outputs: number;
  readonly answerNoise: number;
  /** Sums are masked. */
  readonly masksSums?: boolean;
  readonly maxDepth: number;
  readonly maxLeaves: number;
}

/** @throws TandemError LAYOUT_OVERFLOW, KEY_TOO_SHORT or USAGE if there is no such layout */
export function agreedLayout(terms: LayoutTerms, instanceCount: number, plaintextBitsMax: number): GradientLayout {
  const noise = toNoiseScale(terms);
  const codec = terms.codec === "unbatched" ? "unbatched" : "batched";
  return buildLayout(
    codec,
    slotsOf(terms, instanceCount, noise),
    instanceCount,
    plaintextBitsMax,
    noise,
    noise !== null || terms.masksSums === true,
  );
}

function slotsOf(
  { resolutionBits, slotBits: r, padding, outputs, masksSums = false }: LayoutTerms,
  instanceCount: number,
  noise: NoiseScale | null,
): Slot[] {
  if (resolutionBits === 0)
    return Array.from({ length: 2 * outputs }, () => ({ shift: 0, alpha: 1, alphaMax: 1, r, padding }));
  const parameters = codecWith({ resolution_bits: resolutionBits, padding });
  const bounds = Array.from({ length: 2 * outputs }, (_, slot) => ({ min: slot % 2 === 0 ? -1 : 0, max: 1 }));
  return autoSlots(parameters, bounds, instanceCount, masksSums ? masksFor(resolutionBits, instanceCount) : noise);
}

function masksFor(resolutionBits: number, instanceCount: number): Parameters<typeof autoSlots>[3] {
  return { unit: 2 ** resolutionBits, max: 0, maskBits: maskBitsOf(resolutionBits, instanceCount) };
}
