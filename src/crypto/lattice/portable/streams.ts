/**
 * The source of all random numbers of the lattice scheme: AES in counter mode, keyed by a seed. The first bytes of the
 * counter identify the purpose of a stream:
 *
 *   [ domain | sub | 0 | 0 | block, 4 bytes big-endian | 0 x 8, the counter ]
 *
 * No two streams under one seed may be equal: an error or a secret that occurs twice reveals what it hides. Seeds are
 * 32 bytes (AES-256); the public rows have a public key of 16 (AES-128).
 */
import { createCipheriv } from "node:crypto";
import { assert } from "../../../base/assert.ts";

export const seedBytes = 32;
export const commonKeyBytes = 16;

/** The purpose of a stream. */
export const domains = {
  /** sub: the prime; block: the block of rows */
  row: 1,
  /** sub: the prime */
  maskRow: 2,
  /** sub: the group */
  secret: 3,
  /** sub: the group; block: the block of rows */
  error: 4,
  /** sub: the group */
  maskError: 5,
  /** block: the candidate's position */
  hintSecret: 6,
  /** block: the candidate's position */
  hintError: 7,
  /** block: floor(position / 256) */
  smudging: 8,
} as const;

export type Domain = keyof typeof domains;

/** Candidates whose smudging noise comes from one stream. */
export const smudgingPerStream = 256;

const refillBytes = 4096;
const zeros = Buffer.alloc(2 ** 16);

export class KeyStream {
  readonly #cipher: ReturnType<typeof createCipheriv>;
  #left: Uint8Array = new Uint8Array(0);

  constructor(seed: Uint8Array, domain: Domain, sub: number, block: number) {
    assert(seed.length === seedBytes || seed.length === commonKeyBytes, "a seed of 32 bytes, or a key of 16");
    assert(Number.isInteger(sub) && sub >= 0 && sub < 256, "a stream's sub-number is a byte");
    assert(Number.isInteger(block) && block >= 0 && block < 2 ** 32, "a stream's block has four bytes");
    const start = Buffer.alloc(16);
    start[0] = domains[domain];
    start[1] = sub;
    start.writeUInt32BE(block, 4);
    this.#cipher = createCipheriv(seed.length === seedBytes ? "aes-256-ctr" : "aes-128-ctr", seed, start);
  }

  /** The next `count` bytes, valid until the next call. */
  take(count: number): Uint8Array {
    if (this.#left.length < count) {
      const missing = Math.max(count - this.#left.length, Math.min(refillBytes, zeros.length));
      this.#left = Buffer.concat([this.#left, this.#next(missing)]);
    }
    const taken = this.#left.subarray(0, count);
    this.#left = this.#left.subarray(count);
    return taken;
  }

  #next(count: number): Uint8Array {
    return this.#cipher.update(count <= zeros.length ? zeros.subarray(0, count) : Buffer.alloc(count));
  }
}
