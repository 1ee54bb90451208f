/**
 * The source of noise: a pseudo-random function of a party's secret, the gradients and the members of a node. A
 * repeated request gets the same noise, so that it cannot be averaged away.
 *
 *   key of a node = HMAC-SHA-256(secret, round, members)
 *   block         = AES-256(key, feature, candidate, slot, counter)         four little-endian numbers of 32 bits
 *
 * Every value has its own blocks: it does not depend on which others are drawn.
 *
 * The round is included because gradients change from round to round: the same noise in two sums would cancel in their
 * difference. Trees of one round share their gradients, and so their sums over the same members. That suffices against
 * a semi-honest party. A malicious one that repeats a round with other gradients gets the same noise, and the
 * difference of the two sums is exact.
 *
 * Where members are hidden, the tree and the node's id replace the round and the members. A passive party answers a
 * node for one set of gradients only.
 */
import { type Cipher, createCipheriv, createHmac } from "node:crypto";
import { assert } from "../assert.ts";

export const noiseSecretBytes = 32;

/** Numbers of 32 bits in a block. */
const blockSize = 4;
/** Fetched at a time: many values need no more. */
const blocksAhead = 10;
const wordBytes = 8;

/** @param members instances whose gradients are summed, ascending */
export function noiseKey(secret: Uint8Array, round: number, members: Uint32Array): Uint8Array {
  assert(secret.length === noiseSecretBytes, "the noise secret has 32 bytes");
  const bytes = new Uint8Array(members.buffer, members.byteOffset, members.byteLength);
  return createHmac("sha256", secret).update(`tandem/answer-noise/${round}/${members.length}/`).update(bytes).digest();
}

/** For hidden members. */
export function numberedNoiseKey(secret: Uint8Array, tree: number, node: number): Uint8Array {
  assert(secret.length === noiseSecretBytes, "the noise secret has 32 bytes");
  return createHmac("sha256", secret).update(`tandem/answer-noise/numbered/${tree}/${node}`).digest();
}

/** The random numbers of one node. */
export class NoiseStream {
  readonly #cipher: Cipher;
  /** In native byte order: little-endian on every platform of the native addon. */
  readonly #blocks = new Uint32Array(blocksAhead * blockSize);
  #words = Buffer.alloc(0);
  #used = 0;
  #counter = 0;

  constructor(key: Uint8Array) {
    // Each block is encrypted separately: counter mode with random access.
    this.#cipher = createCipheriv("aes-256-ecb", key, null).setAutoPadding(false);
  }

  /** Seeks to the numbers of one value. */
  seek(feature: number, candidate: number, slot: number): void {
    for (let at = 0; at < this.#blocks.length; at += blockSize) {
      this.#blocks[at] = feature;
      this.#blocks[at + 1] = candidate;
      this.#blocks[at + 2] = slot;
    }
    this.#counter = 0;
    this.#used = this.#words.length;
  }

  /** The next uniform integer below 2^53. */
  readonly draw = (): number => {
    if (this.#used === this.#words.length) this.#fetch();
    const high = this.#words.readUInt32LE(this.#used) >>> 5;
    const low = this.#words.readUInt32LE(this.#used + 4) >>> 6;
    this.#used += wordBytes;
    return high * 2 ** 26 + low;
  };

  #fetch(): void {
    for (let at = 0; at < this.#blocks.length; at += blockSize) this.#blocks[at + 3] = this.#counter++;
    this.#words = this.#cipher.update(this.#blocks);
    this.#used = 0;
  }
}
