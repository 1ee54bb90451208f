/**
 * What a passive party adds to packed sums in a job with noise: one plaintext per ciphertext, with the constants of its
 * fields side by side. Above the last field stand random bits. An honest active party does not look at them; one that
 * sends wider plaintexts than were agreed would otherwise read what it marked there.
 */
import { assert } from "../../base/assert.ts";
import { osRandom } from "../../base/random.ts";
import { encodeNoise } from "../../codec/batch-codec.ts";
import type { GradientLayout } from "../../codec/layout.ts";
import { plaintextBitsMax, type SumPacking } from "../../codec/packing.ts";
import type { PublicKey } from "../../crypto/paillier/keys.ts";
import { PlaintextVector } from "../../crypto/paillier/vectors.ts";
import type { NodeTask } from "../candidates/node-task.ts";

/** For the sums of `count` candidates from `first` on. */
export function noisePlaintexts(
  layout: GradientLayout,
  { perCiphertext, strideBits }: SumPacking,
  key: PublicKey,
  { counts, noise }: Pick<NodeTask, "counts" | "noise">,
  first: number,
  count: number,
): PlaintextVector {
  assert(noise !== null, "a job with noise");
  const width = layout.plaintexts.length;
  const slotCount = layout.slots.length;
  const elementCount = count * width;
  const sizeBytes = key.plaintextBytes;
  const bytes = new Uint8Array(Math.ceil(elementCount / perCiphertext) * sizeBytes);
  for (let start = 0; start < elementCount; start += perCiphertext) {
    const at = (start / perCiphertext) * sizeBytes;
    const plaintext = bytes.subarray(at, at + sizeBytes);
    const held = Math.min(perCiphertext, elementCount - start);
    fillFrom(plaintext, held * strideBits, plaintextBitsMax(key.bits));
    for (let k = 0; k < held; k++) {
      const candidate = first + Math.floor((start + k) / width);
      const ofCandidate = noise.subarray(candidate * slotCount, (candidate + 1) * slotCount);
      encodeNoise(layout, (start + k) % width, plaintext, k * strideBits, counts[candidate], ofCandidate);
    }
  }
  return new PlaintextVector(bytes, sizeBytes);
}

/** Random bits from bit `first` up to bit `end`, which is not among them; the others are zero. */
function fillFrom(bytes: Uint8Array, first: number, end: number): void {
  const firstByte = first >>> 3;
  osRandom.fill(bytes.subarray(firstByte));
  if (firstByte < bytes.length) bytes[firstByte] &= 0xff << (first & 7);
  const lastByte = end >>> 3;
  if (lastByte < bytes.length) bytes[lastByte] &= (1 << (end & 7)) - 1;
  bytes.fill(0, lastByte + 1);
}
