/**
 * AES-128 in bulk, one call of OpenSSL for many blocks: as a stream of a key, and as the hash of transfers.
 *
 * The hash is TMMO of Guo, Katz, Wang and Yu ("Efficient and secure multiparty computation from fixed-key block
 * ciphers", 2020): H(x, i) = pi(pi(x) xor i) xor pi(x), with AES under a public key as pi. It is tweakable circular
 * correlation robust if pi behaves like a random permutation, which is more than an OT extension needs. Every tweak is
 * used once per session: it holds the batch, the transfer within it, and the block of its output.
 *
 * Words are little-endian on the wire and in memory alike: Node runs on nothing else.
 */
import { type Cipher, createCipheriv } from "node:crypto";

/** Of a block of AES. */
export const wordsPerBlock = 4;
const fixedKey = Buffer.from("tandem/transfer1", "latin1"); // public; any constant will do
const permutation = ecb(fixedKey);

function ecb(key: Uint8Array): Cipher {
  return createCipheriv("aes-128-ecb", key, null).setAutoPadding(false);
}

/** pi of each block. */
function permuted(blocks: Uint32Array): Uint32Array {
  const { buffer, byteOffset, length } = permutation.update(bytesOf(blocks)); // new bytes, which no other has
  return byteOffset % 4 === 0
    ? new Uint32Array(buffer, byteOffset, length / 4)
    : words(new Uint8Array(buffer, byteOffset, length));
}

/** One stream per key: AES-CTR, in pieces that can be asked for in any order. */
export class Streams {
  readonly #ciphers: readonly Cipher[];

  constructor(keys: readonly Uint8Array[]) {
    this.#ciphers = keys.map(ecb);
  }

  /**
   * A piece of every stream, one after the other. One place must not mask two secrets.
   * @param place batch and first block
   */
  columns({ batch, block }: { readonly batch: number; readonly block: number }, wordCount: number): Uint32Array {
    const counters = new Uint32Array(4 * Math.ceil(wordCount / 4));
    for (let i = 0; i < counters.length; i += 4) {
      counters[i] = block + i / 4;
      counters[i + 2] = batch;
      counters[i + 3] = batch / 2 ** 32;
    }
    const columns = new Uint32Array(this.#ciphers.length * wordCount);
    const bytes = bytesOf(columns);
    const input = bytesOf(counters);
    this.#ciphers.forEach((cipher, i) => bytes.set(cipher.update(input).subarray(0, 4 * wordCount), i * 4 * wordCount));
    return columns;
  }
}

/**
 * H of each row of four words, `width` words of it per row.
 * @param first the transfer that the first row belongs to
 * @param firstBlock the number of the first block of output
 */
export function hashRows(rows: Uint32Array, batch: number, first: number, width: number, firstBlock = 0): Uint32Array {
  const count = rows.length / 4;
  const blocks = Math.ceil(width / 4);
  const inner = permuted(rows);
  const tweaked = new Uint32Array(count * blocks * 4);
  const high = Math.floor(batch / 2 ** 32);
  for (let i = 0, at = 0; i < count; i++) {
    for (let block = 0; block < blocks; block++, at += 4) {
      tweaked[at] = inner[4 * i] ^ (first + i);
      tweaked[at + 1] = inner[4 * i + 1] ^ (firstBlock + block);
      tweaked[at + 2] = inner[4 * i + 2] ^ batch;
      tweaked[at + 3] = inner[4 * i + 3] ^ high;
    }
  }
  const outer = permuted(tweaked);
  const hashes = new Uint32Array(count * width);
  for (let i = 0, at = 0; i < count; i++) {
    const from = i * blocks * 4;
    for (let w = 0; w < width; w++) hashes[at++] = outer[from + w] ^ inner[4 * i + (w & 3)];
  }
  return hashes;
}

export function bytesOf(array: Uint32Array): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

/** A copy, wherever the bytes begin. */
export function words(bytes: Uint8Array): Uint32Array {
  const copy = new Uint32Array(bytes.length / 4);
  bytesOf(copy).set(bytes);
  return copy;
}
