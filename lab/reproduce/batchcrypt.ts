/**
 * BatchCrypt's encoding (Zhang et al. 2020), the baseline whose failure motivates the paper (sec. II-C, Fig. 2). Signed
 * values are truncated to [-alpha, alpha], quantised, and written in two's complement with overflow bits above. The
 * sign bit of a negative number is 1, so adding negatives carries into the overflow bits although the sum is in range.
 * This file exists to be measured, never to train with.
 *
 *   field = [ overflow bits | sign | r-1 value bits ]
 */
import { TandemError } from "../../src/base/error.ts";

export interface BatchCryptSlot {
  readonly alpha: number;
  /** Bits of the two's complement number, sign included. */
  readonly r: number;
  readonly overflowBits: number;
}

function width(slot: BatchCryptSlot): bigint {
  return BigInt(slot.r + slot.overflowBits);
}

/** Quantises a value to a signed integer of r bits: [-alpha, alpha] to [-(2^(r-1)-1), 2^(r-1)-1]. */
export function batchcryptQuantise(slot: BatchCryptSlot, value: number): number {
  const truncated = Math.max(-slot.alpha, Math.min(slot.alpha, value));
  return Math.round((truncated / slot.alpha) * (2 ** (slot.r - 1) - 1));
}

/** Signed integers, first slot highest, each in two's complement of r bits below zeroed overflow bits. */
export function batchcryptEncode(slot: BatchCryptSlot, quantised: readonly number[]): bigint {
  return quantised.reduce((z, q) => (z << width(slot)) | BigInt.asUintN(slot.r, BigInt(q)), 0n);
}

/**
 * Decodes a sum of encoded batches into signed integers.
 * @throws TandemError DECODE_OVERFLOW if a field's overflow bits are all ones, BatchCrypt's overflow error
 */
export function batchcryptDecode(slot: BatchCryptSlot, sum: bigint, slotCount: number): number[] {
  const fields = batchcryptFields(slot, sum, slotCount);
  return fields.map(({ overflow, value }) => {
    if (overflow === 2 ** slot.overflowBits - 1) {
      throw new TandemError("DECODE_OVERFLOW", "BatchCrypt: the overflow bits of a slot are all ones");
    }
    return value;
  });
}

/** The raw fields of a sum: overflow bits and signed value. A lower field's carry has already spilt into the next. */
export function batchcryptFields(
  slot: BatchCryptSlot,
  sum: bigint,
  slotCount: number,
): { overflow: number; value: number }[] {
  return Array.from({ length: slotCount }, (_, index) => {
    const field = BigInt.asUintN(Number(width(slot)), sum >> (width(slot) * BigInt(slotCount - 1 - index)));
    return { overflow: Number(field >> BigInt(slot.r)), value: Number(BigInt.asIntN(slot.r, field)) };
  });
}
