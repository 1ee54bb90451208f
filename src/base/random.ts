/**
 * Two sources of randomness with incompatible types. Nonces, keys and permutation secrets take a SecureRandom, which
 * only the operating system feeds; shuffles that must repeat (train/test split, synthetic data) take a SeededRandom.
 * Neither type is assignable to the other, so that no nonce can ever come from a seed.
 */
import { createCipheriv, createHash, randomFillSync } from "node:crypto";

declare const secureBrand: unique symbol;

/** Randomness from the operating system. */
export interface SecureRandom {
  readonly [secureBrand]: true;
  /** Fills `target` with random bytes and returns it. */
  fill<T extends Uint8Array>(target: T): T;
}

/** The operating system's own. */
export const osRandom = {
  fill<T extends Uint8Array>(target: T): T {
    return randomFillSync(target);
  },
} as SecureRandom;

/**
 * Draws that can be reproduced with the secret only: AES-256 in counter mode. Without the secret they are
 * indistinguishable from the system's, as long as it was drawn there and stays secret.
 * @param secret 32 bytes, from osRandom @param draw its index: unique per secret
 */
export function derivedRandom(secret: Uint8Array, draw: number): SecureRandom {
  const start = Buffer.alloc(16);
  start.writeBigUInt64BE(BigInt(draw));
  const cipher = createCipheriv("aes-256-ctr", secret, start);
  let block = new Uint8Array(0);
  let used = 0;
  return {
    fill<T extends Uint8Array>(target: T): T {
      if (target.length > blockBytes / 4) {
        target.fill(0);
        target.set(cipher.update(target));
        return target;
      }
      // Buffered, because single numbers are drawn often: a cipher call for each would cost more than the bytes.
      if (used + target.length > block.length) [block, used] = [cipher.update(new Uint8Array(blockBytes)), 0];
      target.set(block.subarray(used, used + target.length));
      used += target.length;
      return target;
    },
  } as SecureRandom;
}

const blockBytes = 4096;

export const derivedSecretBytes = 32;

/** A repeatable generator (xoshiro128**, seeded through SHA-256). Statistically good, useless as a secret. */
export class SeededRandom {
  readonly #state: Uint32Array;

  constructor(seed: number | string) {
    const digest = createHash("sha256").update(`tandem-seed:${seed}`).digest();
    this.#state = new Uint32Array(4);
    for (let i = 0; i < 4; i++) this.#state[i] = digest.readUInt32LE(4 * i);
    this.#state[0] |= 1; // the all-zero state is a fixed point
  }

  /** A uniform integer in [0, 2^32). */
  uint32(): number {
    const s = this.#state;
    const x = Math.imul(s[1], 5);
    const result = Math.imul((x << 7) | (x >>> 25), 9) >>> 0;
    const t = s[1] << 9;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = (s[3] << 11) | (s[3] >>> 21);
    return result;
  }

  /** A uniform number in [0, 1) with 53 bits. */
  uniform(): number {
    return ((this.uint32() >>> 5) * 67108864 + (this.uint32() >>> 6)) / 9007199254740992;
  }

  /** A uniform integer in [0, bound). */
  below(bound: number): number {
    return Math.floor(this.uniform() * bound);
  }

  /** A standard normal number (Box-Muller). */
  normal(): number {
    const radius = Math.sqrt(-2 * Math.log(1 - this.uniform()));
    return radius * Math.cos(2 * Math.PI * this.uniform());
  }

  /** 0..count-1 in random order (Fisher-Yates). */
  permutation(count: number): Uint32Array {
    return shuffled(count, (bound) => this.below(bound));
  }
}

/**
 * 0..count-1, shuffled by Fisher-Yates.
 * @param below draws an integer in [0, bound); if it is uniform, every order is equally likely
 */
export function shuffled(count: number, below: (bound: number) => number): Uint32Array {
  const order = Uint32Array.from({ length: count }, (_, i) => i);
  for (let i = count - 1; i > 0; i--) {
    const j = below(i + 1);
    const held = order[i];
    order[i] = order[j];
    order[j] = held;
  }
  return order;
}
