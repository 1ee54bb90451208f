/**
 * The consistency check of OT extensions: that every column of a piece of the receiver's matrix holds the same choices.
 * It is that of Roy's SoftSpokenOT (2022, section 4), made non-interactive. A random linear hash R of columns is drawn
 * after the piece is fixed, here from a hash of the piece (Fiat and Shamir).
 *
 *   sender, secret D and columns q_j                          receiver, choices m and columns v_j
 *                                           <-- proof --        x = R(m),  SHA-256 of all R(v_j)
 *     compares SHA-256 of all R(q_j) xor D_j x
 *
 * R is the polynomial of a column's blocks of 128 bits at a point of GF(2^128): two columns of n blocks agree with a
 * probability of at most n / 2^128 for each piece that a party tries. 128 random choices at the end of each piece hide
 * x, and the sender knows every R(v_j) from x.
 *
 * A malicious receiver that puts other choices in some columns passes only if it guesses the bits of D at these
 * columns: with t bits the probability is 2^-t. If it passes it knows these t bits, and no others. A wrong guess
 * closes the session, whose secret is never used again. Keller, Orsini and Scholl's check (2015) sends less, but its
 * published proof does not hold for all deviations, as Roy shows.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import { TandemError } from "../../base/error.ts";
import { osRandom } from "../../base/random.ts";
import { bytesOf, words } from "./block-cipher.ts";

const blockWords = 4;
/** Words at the end of each column for random choices. */
export const maskWords = blockWords;
const sumBytes = 4 * blockWords;
const digestBytes = 32;
export const proofBytes = sumBytes + digestBytes;

/** Where in a session a piece of the matrix belongs. */
export interface PiecePlace {
  readonly batch: number;
  /** Its first row. */
  readonly first: number;
}

/** The hash of each column at a point. @param wordCount of a column; the last four are the mask */
export type ColumnHashes = (point: Uint8Array, columns: Uint32Array, wordCount: number) => Uint32Array;

export const columnHashes: ColumnHashes = (point, columns, wordCount) => new ColumnHash(point).of(columns, wordCount);

/** The choices of a piece's rows, and random ones after them. */
export function withMask(choices: Uint32Array): Uint32Array {
  const masked = new Uint32Array(choices.length + maskWords);
  masked.set(choices);
  masked.set(words(osRandom.fill(new Uint8Array(4 * maskWords))), choices.length);
  return masked;
}

/**
 * The receiver's proof.
 * @param choices of the piece's rows, with their mask
 * @param columns 128 of them, one after the other, each as long as the choices
 */
export function proofOf(
  place: PiecePlace,
  matrix: Uint8Array,
  choices: Uint32Array,
  columns: Uint32Array,
  hashes: ColumnHashes = columnHashes,
): Uint8Array {
  const point = challengeOf(place, matrix);
  const proof = new Uint8Array(proofBytes);
  proof.set(bytesOf(hashes(point, choices, choices.length)));
  proof.set(digestOf(hashes(point, columns, choices.length)), sumBytes);
  return proof;
}

/** The sender's half, for one session. */
export class MatrixChecks {
  readonly #secret: Uint32Array;
  readonly #columnHashes: ColumnHashes;
  #hasFailed = false;

  /** @param secret D, a bit per column */
  constructor(secret: Uint32Array, hashes: ColumnHashes = columnHashes) {
    this.#secret = secret;
    this.#columnHashes = hashes;
  }

  /** @throws TandemError PROTOCOL_STATE after a failed check */
  requireOpen(): void {
    if (this.#hasFailed)
      throw new TandemError("PROTOCOL_STATE", "a consistency check of oblivious transfers failed: open a new session");
  }

  /**
   * @param columns q_j, one after the other
   * @throws TandemError PROTOCOL_STATE if the piece is inconsistent; the session is closed then
   */
  check(place: PiecePlace, matrix: Uint8Array, proof: Uint8Array, columns: Uint32Array): void {
    this.requireOpen();
    const count = 32 * this.#secret.length;
    const sum = words(proof.subarray(0, sumBytes));
    const hashes = this.#columnHashes(challengeOf(place, matrix), columns, columns.length / count);
    for (let j = 0; j < count; j++) {
      const mask = -((this.#secret[j >>> 5] >>> (j & 31)) & 1);
      for (let w = 0; w < blockWords; w++) hashes[blockWords * j + w] ^= sum[w] & mask;
    }
    if (timingSafeEqual(digestOf(hashes), proof.subarray(sumBytes))) return;
    this.#hasFailed = true;
    throw new TandemError(
      "PROTOCOL_STATE",
      "the other party's matrix of oblivious transfers is inconsistent: it deviates from the protocol, or is damaged",
    );
  }
}

function challengeOf({ batch, first }: PiecePlace, matrix: Uint8Array): Uint8Array {
  return createHash("sha256").update(`tandem/transfer/check/v1/${batch}/${first}/`).update(matrix).digest();
}

function digestOf(hashes: Uint32Array): Uint8Array {
  return createHash("sha256").update("tandem/transfer/columns/v1/").update(bytesOf(hashes)).digest();
}

/**
 * Sums of a column's blocks times descending powers of a point in GF(2^128) = GF(2)[x] / (x^128 + x^7 + x^2 + x + 1);
 * bit i of a block, lowest first, is the coefficient of x^i. The mask is the last block, which is multiplied with the
 * point itself: it hides the sum, whatever the point is, except 0.
 */
export class ColumnHash {
  /** Per place of a byte in a block, and value of that byte: its product with the point. */
  readonly #table = new Uint32Array(16 * 256 * blockWords);

  /** @param point its first 16 bytes count */
  constructor(point: Uint8Array) {
    const table = this.#table;
    const power = words(point.subarray(0, 4 * blockWords));
    for (let bit = 0; bit < 128; bit++) {
      const row = (bit >>> 3) << 8;
      const single = 1 << (bit & 7);
      for (let value = 0; value < single; value++)
        for (let w = 0; w < blockWords; w++)
          table[(row + single + value) * blockWords + w] = table[(row + value) * blockWords + w] ^ power[w];
      timesX(power);
    }
  }

  /** @param wordCount of each column; the last four are the mask */
  of(columns: Uint32Array, wordCount: number): Uint32Array {
    const hashes = new Uint32Array((columns.length / wordCount) * blockWords);
    const ownWords = wordCount - maskWords;
    const wholeWords = ownWords - (ownWords % blockWords);
    const padded = new Uint32Array(blockWords);
    for (let from = 0, at = 0; from < columns.length; from += wordCount, at += blockWords) {
      const hash = hashes.subarray(at, at + blockWords);
      for (let w = from; w < from + wholeWords; w += blockWords) this.#step(hash, columns, w);
      if (wholeWords < ownWords) {
        padded.fill(0);
        padded.set(columns.subarray(from + wholeWords, from + ownWords));
        this.#step(hash, padded, 0);
      }
      this.#step(hash, columns, from + ownWords);
    }
    return hashes;
  }

  /** hash = (hash + block) * point */
  #step(hash: Uint32Array, block: Uint32Array, at: number): void {
    const table = this.#table;
    let [a, b, c, d] = [0, 0, 0, 0];
    for (let w = 0; w < blockWords; w++) {
      const word = hash[w] ^ block[at + w];
      const row = w << 12; // four places of 256 values of four words
      const [i, j] = [row | ((word << 2) & 1020), row | 1024 | ((word >>> 6) & 1020)];
      const [k, l] = [row | 2048 | ((word >>> 14) & 1020), row | 3072 | ((word >>> 22) & 1020)];
      a ^= table[i] ^ table[j] ^ table[k] ^ table[l];
      b ^= table[i + 1] ^ table[j + 1] ^ table[k + 1] ^ table[l + 1];
      c ^= table[i + 2] ^ table[j + 2] ^ table[k + 2] ^ table[l + 2];
      d ^= table[i + 3] ^ table[j + 3] ^ table[k + 3] ^ table[l + 3];
    }
    hash[0] = a;
    hash[1] = b;
    hash[2] = c;
    hash[3] = d;
  }
}

function timesX(power: Uint32Array): void {
  const carry = power[3] >>> 31;
  for (let w = 3; w > 0; w--) power[w] = (power[w] << 1) | (power[w - 1] >>> 31);
  power[0] = (power[0] << 1) ^ (0x87 * carry);
}
