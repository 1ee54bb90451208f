/**
 * Reads and writes unsigned fields of up to 53 bits at any bit offset of a little-endian byte string. It uses plain
 * numbers: this runs per instance, where a bigint would cost more than the encryption's own bookkeeping. Bit 0 is the
 * lowest bit of byte 0.
 */
import { assert } from "../base/assert.ts";

export const fieldBitsMax = 53;

/** Adds `value` to bits that are still zero. */
export function writeField(bytes: Uint8Array, bitOffset: number, value: number): void {
  let byte = bitOffset >>> 3;
  const lowBits = bitOffset & 7;
  // The first, partly filled byte; what remains is byte-aligned.
  const firstRoom = 1 << (8 - lowBits);
  bytes[byte] |= (value % firstRoom) << lowBits;
  let rest = Math.floor(value / firstRoom);
  while (rest > 0) {
    byte++;
    assert(byte < bytes.length, "a field fits into its byte string");
    bytes[byte] |= rest % 256;
    rest = Math.floor(rest / 256);
  }
}

/** Reads `width` bits as an exact integer. */
export function readField(bytes: Uint8Array, bitOffset: number, width: number): number {
  assert(width <= fieldBitsMax, "a field is read exactly only up to 53 bits");
  let value = 0;
  let weight = 1;
  let position = bitOffset;
  const end = bitOffset + width;
  while (position < end) {
    const lowBits = position & 7;
    const take = Math.min(8 - lowBits, end - position);
    const piece = ((bytes[position >>> 3] ?? 0) >>> lowBits) & ((1 << take) - 1);
    value += piece * weight;
    weight *= 2 ** take;
    position += take;
  }
  return value;
}
