/**
 * What a passive party adds to packed sums, one plaintext per ciphertext: noise or masks in its fields, and random
 * bits wherever a packed plaintext holds no sum (unused-room.ts).
 */
import { encodeNoise } from "../../codec/batch-codec.ts";
import { type GradientLayout, maskBitsIn } from "../../codec/layout.ts";
import { encodeMasks } from "../../codec/masked-sums.ts";
import type { SumPacking } from "../../codec/packing.ts";
import type { PublicKey } from "../../crypto/paillier/keys.ts";
import { type CiphertextVector, PlaintextVector } from "../../crypto/paillier/vectors.ts";
import type { NodeTask } from "../candidates/node-task.ts";
import type { NodeRoom } from "./unused-room.ts";

/** The terms of one job. */
export interface Addition {
  readonly layout: GradientLayout;
  readonly packing: SumPacking;
  readonly key: PublicKey;
}

type Candidates = Pick<NodeTask, "counts" | "noise" | "masks" | "suppressed">;

/** @param sums of `count` candidates from `first` on, as they will be packed */
export function addedPlaintexts(
  { layout, packing, key }: Addition,
  room: NodeRoom,
  sums: CiphertextVector,
  task: Candidates,
  first: number,
  count: number,
): PlaintextVector {
  const { perCiphertext, strideBits } = packing;
  const width = layout.plaintexts.length;
  const elementCount = count * width;
  const sizeBytes = key.plaintextBytes;
  const packedCount = Math.ceil(sums.count / perCiphertext);
  const bytes = new Uint8Array(packedCount * sizeBytes);
  for (let c = 0; c < packedCount; c++) {
    const start = c * perCiphertext;
    const held = Math.min(perCiphertext, elementCount - start);
    const candidateAt = (k: number): number => first + Math.floor((start + k) / width);
    const isEmpty = Array.from({ length: held }, (_, k) => holdsNobody(task, candidateAt(k)));
    const plaintext = bytes.subarray(c * sizeBytes, (c + 1) * sizeBytes);
    const ciphertexts = sums.bytes.subarray(start * sums.sizeBytes, (start + held) * sums.sizeBytes);
    room.fill(plaintext, key, { ciphertexts, place: first * width + start, isEmpty, strideBits });
    const { noise, masks } = task;
    if (noise === null && masks === undefined) continue;
    for (let k = 0; k < held; k++) {
      if (isEmpty[k]) continue;
      const candidate = candidateAt(k);
      const slotCount = layout.slots.length;
      const [p, at, people] = [(start + k) % width, k * strideBits, task.counts[candidate]];
      if (masks !== undefined)
        encodeMasks(layout, p, plaintext, at, people, (slot) => masks.of(candidate, slot, maskBitsIn(layout)));
      else if (noise !== null)
        encodeNoise(
          layout,
          p,
          plaintext,
          at,
          people,
          noise.subarray(candidate * slotCount, (candidate + 1) * slotCount),
        );
    }
  }
  return new PlaintextVector(bytes, sizeBytes);
}

/** The active party knows that there is no sum, by the count 0 or the mark of a suppressed candidate. */
function holdsNobody({ counts, suppressed, noise, masks }: Candidates, candidate: number): boolean {
  if (masks !== undefined) return false;
  return suppressed[candidate] === 1 || (noise === null && counts[candidate] === 0);
}
