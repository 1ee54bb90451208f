/**
 * Sums in shares: the passive party adds a mask that is uniform modulo t = 2^k, so what is decrypted is uniform too. It
 * is j (Z + mask) modulo t, with j = -1 / q modulo t, and is turned back here.
 *
 * An honest sum is a number from -2^(k-2) to 2^(k-2): its shares can be widened (crypto/maximum).
 */
import { bitLength, modulo } from "../../integers.ts";
import { type JobBounds, latticeModulus } from "./job-bounds.ts";

/** k of a job; 0: its sums are not masked. */
export function shareBits({ t }: Pick<JobBounds, "t">): number {
  return t % 2n === 0n ? bitLength(t) - 1 : 0;
}

/** Turns decrypted numbers into shares. */
export class ShareDecoder {
  readonly #t: bigint;
  readonly #factor: bigint;

  constructor({ set, t }: Pick<JobBounds, "set" | "t">) {
    this.#t = t;
    this.#factor = modulo(-latticeModulus(set), t); // 1 / j
  }

  share(decrypted: number): bigint {
    return modulo(BigInt(decrypted) * this.#factor, this.#t);
  }
}

/** 1 / a modulo a power of two, by Newton's iteration. @param a odd */
export function inverseModulo(a: bigint, powerOfTwo: bigint): bigint {
  let inverse = 1n;
  for (let bits = 1; 1n << BigInt(bits) < powerOfTwo; bits *= 2)
    inverse = modulo(inverse * (2n - a * inverse), powerOfTwo);
  return inverse;
}
