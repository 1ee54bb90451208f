/**
 * One slot of the paper's batch encoding (sec. III-A): shift, truncate, quantise, and the exact condition under which a
 * sum of n values cannot overflow (sec. III-C).
 *
 * A slot is r information bits with `padding` overflow protection bits above them:
 *
 *   [ padding | r bits of sum ]      a sum whose padding bits are all ones is an overflow
 */
import { assert } from "../base/assert.ts";
import { TandemError } from "../base/error.ts";
import { highLimb, limbedCountMax } from "../base/gradients/quantised-gradients.ts";
import { fieldBitsMax } from "./bit-fields.ts";

export interface Slot {
  /** s_j: subtracted from every value; no value may lie below it. */
  readonly shift: number;
  /** alpha: shifted values are truncated to [0, alpha]. */
  readonly alpha: number;
  /** alpha_max: [0, alpha_max] maps to [0, 2^r). */
  readonly alphaMax: number;
  readonly r: number;
  readonly padding: number;
  /** Only in a job with noise. */
  readonly noise?: SlotNoise;
}

/**
 * The encoding of a slot's sums with noise, where counts are not sent. Signed values have an excess added before
 * encryption, so that plaintexts are not negative. The passive party knows the count, and subtracts the excess again;
 * the field then contains
 *
 *   sum + noise + offset        offset = excess * the number of instances + the largest noise: never negative
 */
export interface SlotNoise {
  /** The largest magnitude of a quantised value. */
  readonly largest: number;
  /** The largest magnitude for signed values, 0 for others. */
  readonly excess: number;
  /** The largest magnitude of noise. */
  readonly max: number;
  /** The number of instances for which the offset is computed. */
  readonly people: number;
  /**
   * Where sums are hidden: a mask below 2^maskBits is added instead of noise, and what is decrypted is no sum but a
   * share of it (masked-sums.ts). Left out or 0: there are no masks.
   */
  readonly maskBits?: number;
}

/** The value of zero in a decrypted field; may exceed a double. */
export function noiseOffset({ excess, people, max }: SlotNoise): bigint {
  return BigInt(people) * BigInt(excess) + BigInt(max);
}

/** Hidden sums are below 2^32 (crypto/maximum). */
export const maskedSumBitsMax = 32;

/** A slot wider than a field is read in two limbs (base/gradients/quantised-gradients.ts). */
export const slotBitsMax = fieldBitsMax + Math.log2(highLimb);

export function slotBits(slot: Slot): number {
  return slot.r + slot.padding;
}

/** Columns that hold the slot's integers and their sums. */
export function slotLimbs(slot: Slot): 1 | 2 {
  return slotBits(slot) <= fieldBitsMax || isMasked(slot) ? 1 : 2;
}

/** Its sums are hidden, and fit one column; its fields are wider than any that are read as sums. */
export function isMasked({ noise }: Slot): boolean {
  return (noise?.maskBits ?? 0) > 0;
}

/** alpha_max / 2^r, the paper's "resolution of quantisation". */
export function slotResolution(slot: Slot): number {
  return slot.alphaMax / 2 ** slot.r;
}

/**
 * Shift, truncate and quantise one value: eq. (5), (6), (7).
 * @throws TandemError LAYOUT_RANGE for a value below the shift: clamping it would silently change the sum
 */
export function quantiseValue(slot: Slot, value: number): number {
  const shifted = value - slot.shift; // eq. (5)
  if (!(shifted >= 0)) {
    throw new TandemError(
      "LAYOUT_RANGE",
      `a gradient lies below the layout's shift ${slot.shift}. Choose a smaller shift`,
    );
  }
  if (slot.noise !== undefined) return quantiseSigned(slot, slot.noise, value);
  return quantiseShifted(slot, Math.min(shifted, slot.alpha)); // eq. (6)
}

function quantiseShifted(slot: Slot, shifted: number): number {
  return Math.floor((2 ** slot.r * shifted) / slot.alphaMax + 0.5); // eq. (7)
}

/** eq. (7) without a shift, which could only be undone with counts, which are not sent. */
function quantiseSigned(slot: Slot, { largest }: SlotNoise, value: number): number {
  const top = slot.shift + slot.alpha;
  return Math.min(Math.floor(Math.min(value, top) / slotResolution(slot) + 0.5), largest);
}

/** The largest quantised value that this slot can produce (quantisation is monotone, also in floating point). */
export function quantisedMax(slot: Slot): number {
  return slot.noise?.largest ?? quantiseShifted(slot, slot.alpha);
}

/** The largest possible field over n values. */
export function largestField(slot: Slot, count: number): bigint {
  const sum = BigInt(count) * BigInt(quantisedMax(slot));
  if (slot.noise === undefined) return sum;
  const mask = (1n << BigInt(slot.noise.maskBits ?? 0)) - 1n;
  return sum + BigInt(slot.noise.max) + mask + noiseOffset(slot.noise);
}

/**
 * Whether the sum of any n values keeps the padding bits from becoming all ones:
 *
 *   n (2^r alpha / alpha_max + 1/2) < (2^padding - 1) 2^r          the paper's condition, for general padding
 *
 * This is decided exactly: doubles are dyadic rationals, so both sides are compared as integers. Floating point may
 * quantise slightly differently, so the sum of its results is checked as well. And sums must stay exact in doubles.
 *
 * With noise, values are at most slot.noise.largest after rounding, so the largest field decides; and the smallest is
 * not negative for as many instances as the offset is computed for.
 */
export function cannotOverflow(slot: Slot, count: number): boolean {
  const limit = (2n ** BigInt(slot.padding) - 1n) << BigInt(slot.r);
  if (slot.noise !== undefined) {
    const largest = largestField(slot, count);
    return count <= slot.noise.people && largest < limit && sumsAreExact(slot, count, largest);
  }
  const scale = dyadicScale(slot.alpha, slot.alphaMax);
  const alpha = dyadicInteger(slot.alpha, scale);
  const alphaMax = dyadicInteger(slot.alphaMax, scale);
  const n = BigInt(count);
  const paperCondition = n * ((alpha << BigInt(slot.r + 1)) + alphaMax) < 2n * alphaMax * limit;
  const largestSum = n * BigInt(quantisedMax(slot));
  return paperCondition && largestSum < limit && sumsAreExact(slot, count, largestSum);
}

function sumsAreExact(slot: Slot, count: number, largestSum: bigint): boolean {
  if (isMasked(slot)) return count * quantisedMax(slot) < 2 ** maskedSumBitsMax;
  if (slotLimbs(slot) === 1) return largestSum <= BigInt(Number.MAX_SAFE_INTEGER);
  return quantisedMax(slot) <= Number.MAX_SAFE_INTEGER && count <= limbedCountMax && slotBits(slot) <= slotBitsMax;
}

/** The largest count for which cannotOverflow holds (0 if none). */
export function countMax(slot: Slot): number {
  let low = 0;
  let high = 1;
  while (cannotOverflow(slot, high) && high < 2 ** 52) [low, high] = [high, high * 2];
  while (high - low > 1) {
    const middle = low + Math.floor((high - low) / 2);
    if (cannotOverflow(slot, middle)) low = middle;
    else high = middle;
  }
  return low;
}

/**
 * The same slot with the smallest alpha_max (to about 1%) that carries `count` values, or null if its r is too small
 * for that many with any alpha_max.
 */
export function withSmallestAlphaMax(slot: Slot, count: number): Slot | null {
  const room = (2 ** slot.padding - 1) * 2 ** slot.r - count / 2;
  if (room <= 0) return null;
  let alphaMax = (count * slot.alpha * 2 ** slot.r) / room;
  for (let tries = 0; tries < 100; tries++) {
    const rounded = roundUp(alphaMax, 3);
    const candidate = { ...slot, alphaMax: Math.max(rounded, slot.alpha) };
    if (cannotOverflow(candidate, count)) return candidate;
    alphaMax = rounded * 1.001;
  }
  return null;
}

/** The same slot with the smallest r that carries `count` values at its alpha_max, or null. */
export function withSmallestR(slot: Slot, count: number): Slot | null {
  for (let r = 1; r + slot.padding <= slotBitsMax; r++) {
    const candidate = { ...slot, r };
    if (cannotOverflow(candidate, count)) return candidate;
  }
  return null;
}

function roundUp(value: number, digits: number): number {
  const unit = 10 ** (Math.floor(Math.log10(value)) - digits + 1);
  return Math.ceil(value / unit) * unit;
}

/** The power of two by which both numbers must be multiplied to become integers. */
function dyadicScale(a: number, b: number): number {
  let scale = 0;
  while (!Number.isInteger(a * 2 ** scale) || !Number.isInteger(b * 2 ** scale)) scale++;
  return scale;
}

function dyadicInteger(value: number, scale: number): bigint {
  assert(Number.isFinite(value), "slot parameters are finite");
  return BigInt(value * 2 ** scale);
}
