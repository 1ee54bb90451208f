/**
 * How an instance's gradient vector becomes one or more Paillier plaintexts.
 *
 * `batched` (the paper): all slots of an instance are in one plaintext, the first slot highest, eq. (8):
 *
 *   z_i = [ padding | q_i1 ][ padding | q_i2 ] ... [ padding | q_id ]      d slots, lowest bits at the right
 *
 * (several plaintexts if d slots are wider than the key's plaintext). `unbatched` (SecureBoost): one plaintext per
 * slot. Both use the same slots and so the same quantised gradients, which is why both train the same model.
 */
import { TandemError } from "../base/error.ts";
import type { NoiseScale } from "../base/noise/noise-scale.ts";
import type { CodecParameters } from "../base/parameters/parameters.ts";
import type { Range } from "../base/gradients/real-gradients.ts";
import {
  cannotOverflow,
  countMax,
  isMasked,
  largestField,
  maskedSumBitsMax,
  noiseOffset,
  quantisedMax,
  type Slot,
  slotBits,
  slotBitsMax,
  slotLimbs,
  slotResolution,
  withSmallestAlphaMax,
  withSmallestR,
} from "./slot.ts";

/** What passive parties add to sums without counts: noise, or masks, or neither. */
interface Added extends Pick<NoiseScale, "unit" | "max"> {
  readonly maskBits?: number;
}

/** How gradients of a job become plaintexts. */
export interface GradientLayout {
  readonly codec: CodecParameters["codec"];
  readonly slots: readonly Slot[];
  /** The number of values whose sum is proven not to overflow. */
  readonly instanceCountMax: number;
  /** Columns per slot: 2 if sums of some slot may exceed one double. */
  readonly limbs: 1 | 2;
  /** Per plaintext: the slots in it, highest first. */
  readonly plaintexts: readonly (readonly number[])[];
  /** Bits of the widest plaintext: the stride at which sums can be packed side by side. */
  readonly plaintextBits: number;
  /** The noise that passive parties add to sums; null: none. */
  readonly noise: NoiseScale | null;
  /** Counts are not sent, so values are rounded to signed integers, as with noise. */
  readonly hidesCounts: boolean;
}

/** Distributes slots over plaintexts of at most `plaintextBitsMax` bits. */
export function buildLayout(
  codec: CodecParameters["codec"],
  slots: readonly Slot[],
  instanceCountMax: number,
  plaintextBitsMax: number,
  noise: NoiseScale | null = null,
  hidesCounts = noise !== null,
): GradientLayout {
  const plaintexts: number[][] = [];
  let room = 0;
  slots.forEach((slot, index) => {
    const bits = slotBits(slot);
    if (bits > slotBitsMax && !isMasked(slot)) {
      throw new TandemError("USAGE", `a slot has r + padding = ${bits} bits; at most ${slotBitsMax} are supported`);
    }
    if (bits > plaintextBitsMax) {
      throw new TandemError(
        "KEY_TOO_SHORT",
        `a slot needs ${bits} bits, but this key holds only ${plaintextBitsMax}. Use a longer key`,
      );
    }
    if (codec === "unbatched" || bits > room) {
      plaintexts.push([]);
      room = plaintextBitsMax;
    }
    plaintexts[plaintexts.length - 1].push(index);
    room -= bits;
  });
  const widths = plaintexts.map((members) => members.reduce((sum, index) => sum + slotBits(slots[index]), 0));
  const limbs = slots.some((slot) => slotLimbs(slot) === 2) ? 2 : 1;
  return { codec, slots, instanceCountMax, limbs, plaintexts, plaintextBits: Math.max(...widths), noise, hidesCounts };
}

/**
 * The paper's literal parameters, the same for every slot.
 * @throws TandemError LAYOUT_OVERFLOW when n values could overflow, naming parameters that would work
 */
export function paperSlots(parameters: CodecParameters, slotCount: number, instanceCount: number): Slot[] {
  const slot: Slot = {
    shift: parameters.shift,
    alpha: parameters.codec_alpha,
    alphaMax: parameters.alpha_max,
    r: parameters.r,
    padding: parameters.padding,
  };
  if (slot.alphaMax < slot.alpha) {
    throw new TandemError("USAGE", `alpha_max must be at least codec_alpha (${slot.alpha}); got ${slot.alphaMax}`);
  }
  if (!cannotOverflow(slot, instanceCount))
    throw new TandemError("LAYOUT_OVERFLOW", overflowMessage(slot, instanceCount));
  return Array.from({ length: slotCount }, () => slot);
}

function overflowMessage(slot: Slot, instanceCount: number): string {
  const ways: string[] = [];
  const wider = withSmallestAlphaMax(slot, instanceCount);
  if (wider !== null) ways.push(`alpha_max ${wider.alphaMax} or more with this r`);
  const finer = withSmallestR(slot, instanceCount);
  if (finer !== null) ways.push(`r ${finer.r} or more with this alpha_max`);
  const largest = countMax(slot);
  if (largest > 0) ways.push(`at most ${largest} instances`);
  ways.push("layout auto");
  return (
    `the paper layout (codec_alpha ${slot.alpha}, alpha_max ${slot.alphaMax}, r ${slot.r}, padding ${slot.padding}) ` +
    `could overflow for ${instanceCount} instances. What works: ${ways.join(", or ")}`
  );
}

/**
 * Slots derived from the values' bounds: each is rounded to `bound * 2^-resolution_bits`, and r is the smallest width
 * in which a sum of n such values fits without touching the padding. Overflow is impossible by construction. The width
 * depends on nothing but the number of instances and what was agreed.
 */
export function autoSlots(
  parameters: CodecParameters,
  bounds: readonly Range[],
  instanceCount: number,
  added: Added | null = null,
): Slot[] {
  return bounds.map((bound, index) => {
    const isSigned = index % 2 === 0;
    const slot = autoSlot(parameters, bound, isSigned, instanceCount, (added?.max ?? 0) > 0);
    const whole = added === null ? slot : noisySlot(slot, isSigned, instanceCount, added);
    const isTooWide = slotBits(whole) > slotBitsMax && !isMasked(whole);
    if (isTooWide || !cannotOverflow(whole, instanceCount)) {
      const excess = isMasked(whole) ? 1 : Math.max(1, slotBits(whole) - slotBitsMax);
      throw new TandemError(
        "LAYOUT_OVERFLOW",
        `sums of ${instanceCount} gradients of resolution_bits ${parameters.resolution_bits} need more than ` +
          `${isMasked(whole) ? maskedSumBitsMax : slotBitsMax} bits. ` +
          `Use --resolution-bits ${parameters.resolution_bits - excess} or less`,
      );
    }
    return whole;
  });
}

/** @param hasNoise then the unit is the bound itself, since noise is scaled to the unit; otherwise a power of two */
function autoSlot(
  parameters: CodecParameters,
  bound: Range,
  isSigned: boolean,
  instanceCount: number,
  hasNoise: boolean,
): Slot {
  const magnitude = Math.max(Math.abs(bound.min), Math.abs(bound.max)) || 1;
  const unit = hasNoise ? magnitude : 2 ** Math.ceil(Math.log2(magnitude));
  const resolution = unit * 2 ** -parameters.resolution_bits;
  const shift = Math.min(bound.min, 0);
  const alpha = bound.max - shift;
  // At most alpha / resolution, for any bounds: passive parties know the width without them.
  const levels = (isSigned || shift < 0 ? 2 : 1) * 2 ** parameters.resolution_bits;
  let r = 1;
  // n (alpha / resolution + 1/2) < 2^r keeps the padding at zero: stronger than the paper's condition.
  while (instanceCount * (levels + 0.5) >= 2 ** r) r++;
  return { shift, alpha, alphaMax: resolution * 2 ** r, r, padding: parameters.padding };
}

/** The same grid with room for noise, and for signed sums. */
function noisySlot(slot: Slot, isSigned: boolean, instanceCount: number, { unit, max, maskBits = 0 }: Added): Slot {
  const excess = isSigned ? unit : 0;
  const noise = { largest: unit, excess, max, people: instanceCount, ...(maskBits > 0 && { maskBits }) };
  let r = 1;
  while (largestField({ ...slot, noise }, instanceCount) >= 2n ** BigInt(r)) r++;
  return { ...slot, r, alphaMax: slotResolution(slot) * 2 ** r, noise };
}

/** Bits of the masks that passive parties add to sums; 0: they add none. */
export function maskBitsIn({ slots }: GradientLayout): number {
  return slots[0].noise?.maskBits ?? 0;
}

/** The number of sums in a row, without its count. */
export function columnCount(layout: GradientLayout): number {
  return layout.slots.length * layout.limbs;
}

/** A human-readable proof that no sum of this job can overflow, one line per slot. */
export function overflowProof(layout: GradientLayout): string[] {
  return layout.slots.map((slot, index) => {
    const limit = (2n ** BigInt(slot.padding) - 1n) << BigInt(slot.r);
    const noise = slot.noise && ` with noise of at most ${slot.noise.max} and the offset ${noiseOffset(slot.noise)}`;
    return (
      `slot ${index} (${index % 2 === 0 ? "g" : "h"}): at most ${layout.instanceCountMax} values of at most ` +
      `${quantisedMax(slot)}${noise ?? ""} sum to ${largestField(slot, layout.instanceCountMax)} < ${limit} = ` +
      `(2^${slot.padding} - 1) 2^${slot.r}`
    );
  });
}
