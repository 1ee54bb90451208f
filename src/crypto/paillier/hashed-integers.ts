/** Pseudo-random integers derived from public bytes: every party derives the same ones. */
import { createHash } from "node:crypto";
import { assert } from "../../base/assert.ts";
import { bitLength, readInteger } from "../integers.ts";

/**
 * A uniform integer in [0, bound), drawn by rejection from SHAKE256 of `tandem/<purpose>/<index>/<try>/` and the seed.
 * @param purpose unique per use
 * @param seed of a length fixed by the purpose; it is hashed last
 */
export function hashedBelow(purpose: string, seed: Uint8Array, index: number, bound: bigint): bigint {
  assert(bound >= 1n, "a range to draw from is not empty");
  const bits = bitLength(bound - 1n);
  const sizeBytes = Math.max(1, Math.ceil(bits / 8));
  for (let attempt = 0; ; attempt++) {
    const bytes = createHash("shake256", { outputLength: sizeBytes })
      .update(`tandem/${purpose}/${index}/${attempt}/`)
      .update(seed)
      .digest();
    const value = BigInt.asUintN(bits, readInteger(bytes, sizeBytes, 0));
    if (value < bound) return value;
  }
}
