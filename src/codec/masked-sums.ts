/**
 * Sums in shares: the passive party adds a mask to every sum, and the active party decrypts sum + mask. Its share is
 * that number, the passive party's is minus the mask. A field holds
 *
 *   sum + mask + offset        offset = excess * the number of instances: never negative
 *
 * and is wide enough for all of it, so that no field touches the next. A mask is uniform below 2^maskBits, 64 bits more
 * than a sum has: what is decrypted depends on a sum by a statistical distance of 2^-64.
 */
import { assert } from "../base/assert.ts";
import { bitLength } from "../crypto/integers.ts";
import { fieldsOf } from "./batch-codec.ts";
import { writeField } from "./bit-fields.ts";
import type { GradientLayout } from "./layout.ts";
import { noiseOffset, slotBits } from "./slot.ts";

/** Bits by which a mask exceeds any sum. */
const statisticalBits = 64;

export function maskBitsOf(resolutionBits: number, instanceCount: number): number {
  return bitLength(BigInt(instanceCount) << BigInt(resolutionBits)) + statisticalBits;
}

const pieceBits = 32;

/**
 * Writes what the passive party adds to plaintext `p` of an aggregate of `count` values: a mask per slot, and the
 * offset in place of their excess. It is written at `bitOffset` of `bytes`, which is zero there.
 * @param maskOf the mask of a slot
 */
export function encodeMasks(
  layout: GradientLayout,
  p: number,
  bytes: Uint8Array,
  bitOffset: number,
  count: number,
  maskOf: (slot: number) => bigint,
): void {
  for (const { slot: index, offset } of fieldsOf(layout, p)) {
    const { noise } = layout.slots[index];
    assert(noise?.maskBits !== undefined, "the layout has masks");
    const mask = maskOf(index);
    assert(mask >= 0n && mask < 1n << BigInt(noise.maskBits), "masks are within their bounds");
    let rest = noiseOffset(noise) - BigInt(count) * BigInt(noise.excess) + mask;
    for (let at = bitOffset + offset; rest > 0n; at += pieceBits, rest >>= BigInt(pieceBits))
      writeField(bytes, at, Number(BigInt.asUintN(pieceBits, rest)));
  }
}

/** The shares in one aggregate: sum + mask of each slot of plaintext `p`. Any bits are a share. */
export function* decodeShares(
  layout: GradientLayout,
  p: number,
  bytes: Uint8Array,
  bitOffset: number,
): Generator<{ readonly slot: number; readonly share: bigint }> {
  for (const { slot, offset } of fieldsOf(layout, p)) {
    const { noise } = layout.slots[slot];
    assert(noise !== undefined, "the layout has masks");
    yield { slot, share: readInteger(bytes, bitOffset + offset, slotBits(layout.slots[slot])) - noiseOffset(noise) };
  }
}

function readInteger(bytes: Uint8Array, bitOffset: number, width: number): bigint {
  const first = bitOffset >>> 3;
  const end = Math.min(bytes.length, (bitOffset + width + 7) >>> 3);
  let value = 0n;
  for (let at = end - 1; at >= first; at--) value = (value << 8n) | BigInt(bytes[at]);
  return BigInt.asUintN(width, value >> BigInt(bitOffset & 7));
}
