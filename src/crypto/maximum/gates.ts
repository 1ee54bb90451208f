/**
 * What two parties compute with shared numbers, for many at once. Numbers are shared as residues that add up to them,
 * bits as bits whose sum modulo 2 they are. Results are shared in the same way, and each share alone is uniform.
 *
 * A product of a bit s of one party with a number n of the other uses a random transfer (kernel.ts), in one flight:
 *
 *   receiver, bit s, random bit r       -- s xor r -->
 *                                       <-- d = n - (h1 - h0) --        sender, number n
 *     s xor r = 0:   h_r + r d                                            -h0
 *     s xor r = 1: -(h_r + r d)                                          n + h0
 *
 * h_r + r d is h0 + r n. What the receiver sends is masked by r, which the sender does not know; d by the hash that the
 * receiver lacks. A product of two numbers takes one transfer for each bit of one of them (Gilboa, 1999).
 */
import type { SecureRandom } from "../../base/random.ts";
import { bytesOf, words } from "../transfer/block-cipher.ts";
import { type Steps, together } from "./flights.ts";
import { correctionBits, type ProductJob, type RowRange } from "./kernel.ts";
import type { Residues } from "./maximum.ts";
import { packed, packedBytes, unpacked } from "./packed-bits.ts";
import type { BatchTransfers } from "./transfers.ts";
import {
  bitsAt,
  constants,
  countOf,
  joined,
  minus,
  negatedWhere,
  part,
  plus,
  reduce,
  residuesOfBits,
  timesBits,
  wordsEach,
} from "./wide-residues.ts";

/** Which products: of `factorCount` numbers of `bits` bits. */
export interface ProductShape {
  readonly bits: number;
  readonly factorCount: number;
  /** Per product its factor, and the width of its result. */
  readonly factors: Uint32Array;
  readonly widths: Uint8Array;
}

/** Products of a width with a factor each. */
export function eachOnce(bits: number, count: number, width: number): ProductShape {
  const factors = Uint32Array.from({ length: count }, (_, i) => i);
  return { bits, factorCount: count, factors, widths: new Uint8Array(count).fill(width) };
}

/** Blocks of digits in comparisons. */
const digitBits = 4;

/** How many transfers a comparison takes: those for its digits, and those for its tree in each direction. */
export function comparisonTransfers(count: number, width: number): { readonly digits: number; readonly tree: number } {
  const blocks = Math.ceil(width / digitBits);
  return { digits: digitBits * blocks * count, tree: (blocks - 1) * count };
}

/** One party's gates. */
export class Gates {
  readonly isActive: boolean;
  readonly #transfers: BatchTransfers;
  readonly #random: SecureRandom;

  constructor(isActive: boolean, transfers: BatchTransfers, random: SecureRandom) {
    this.isActive = isActive;
    this.#transfers = transfers;
    this.#random = random;
  }

  /** Shares of products with this party's numbers. */
  async *receivedProducts(shape: ProductShape, factors: Residues): Steps<Residues> {
    const { bits, factorCount } = shape;
    const { choices, ...range } = this.#transfers.received(bits * factorCount);
    const job = jobOf(shape, range);
    const flips = new Uint8Array(bits * factorCount);
    for (let factor = 0, at = 0; factor < factorCount; factor++)
      for (let bit = 0; bit < bits; bit++, at++)
        flips[at] = ((factors[wordsEach * factor + (bit >>> 5)] >>> (bit & 31)) & 1) ^ choices[at];
    const received = yield { send: packed(flips), expects: packedBytes(correctionBits(job)) };
    return this.#transfers.kernel.receiverShares(job, choices, flips, received);
  }

  /** Shares of products with the other party's numbers. @param numbers one per product */
  async *sentProducts(shape: ProductShape, numbers: Residues): Steps<Residues> {
    const count = shape.bits * shape.factorCount;
    const { kernel, secret } = this.#transfers;
    const job = jobOf(shape, this.#transfers.sent(count));
    const { corrections, held } = kernel.corrections(job, secret, numbers);
    const received = yield { send: corrections, expects: packedBytes(count) };
    return kernel.senderShares(job, numbers, held, unpacked(received, count));
  }

  /** Shares of products of which the passive, or the active party has the factors; the other has the numbers. */
  products(chooser: "active" | "passive", shape: ProductShape, own: Residues): Steps<Residues> {
    return (chooser === "active") === this.isActive ? this.receivedProducts(shape, own) : this.sentProducts(shape, own);
  }

  /** Shares of each party's factors times the other's numbers: of the sum of the two. */
  async *crossProducts(shape: ProductShape, factors: Residues, numbers: Residues): Steps<Residues> {
    const [byActive, byPassive] = yield* together(
      this.products("active", shape, this.isActive ? factors : numbers),
      this.products("passive", shape, this.isActive ? numbers : factors),
    );
    const sums = byActive;
    for (let i = 0; i < shape.widths.length; i++)
      sums.set(plus(part(byActive, i, i + 1), part(byPassive, i, i + 1), shape.widths[i]), wordsEach * i);
    return sums;
  }

  /** Shares of shared bits times shared numbers. @param columns of each, a number for every bit */
  async *select(bits: Uint8Array, columns: readonly Column[]): Steps<Residues[]> {
    const count = bits.length;
    const shape = {
      bits: 1,
      factorCount: count,
      factors: Uint32Array.from({ length: columns.length * count }, (_, i) => i % count),
      widths: Uint8Array.from({ length: columns.length * count }, (_, i) => columns[Math.floor(i / count)].width),
    };
    const numbers = joined(columns.map(({ values, width }) => negatedWhere(values, bits, width)));
    const products = yield* this.crossProducts(shape, residuesOfBits(bits), numbers);
    return columns.map(({ values, width }, column) =>
      plus(part(products, column * count, (column + 1) * count), timesBits(values, bits), width),
    );
  }

  /** Shared bits times shared values of `width` bits, which are shared bit by bit; at most 8. One flight. */
  async *ands(bits: Uint8Array, values: Uint8Array, width: number): Steps<Uint8Array> {
    const [byActive, byPassive] = yield* together(
      this.isActive ? this.#receivedBits(bits, width) : this.#sentBits(values, width),
      this.isActive ? this.#sentBits(values, width) : this.#receivedBits(bits, width),
    );
    return byActive.map((share, i) => share ^ byPassive[i] ^ (values[i] & -bits[i]));
  }

  /** Shared bits times bits of the passive party. One flight. @param own of the passive party: its bits */
  async *kept(bits: Uint8Array, own: Uint8Array): Steps<Uint8Array> {
    if (this.isActive) return yield* this.#receivedBits(bits, 1);
    const shares = yield* this.#sentBits(own, 1);
    return shares.map((share, i) => share ^ (bits[i] & own[i]));
  }

  async *#receivedBits(bits: Uint8Array, width: number): Steps<Uint8Array> {
    const transfers = this.#transfers.received(bits.length);
    const hashes = this.#transfers.kernel.hashWords(transfers);
    const flips = bits.map((bit, i) => bit ^ transfers.choices[i]);
    const received = yield { send: packed(flips), expects: packedBytes(width * bits.length) };
    const given = unpacked(received, bits.length, width);
    return given.map((value, i) => (hashes[i] ^ (value & -transfers.choices[i])) & (2 ** width - 1));
  }

  async *#sentBits(values: Uint8Array, width: number): Steps<Uint8Array> {
    const { kernel, secret } = this.#transfers;
    const transfers = this.#transfers.sent(values.length);
    const [low, high] = [kernel.hashWords(transfers), kernel.hashWords(transfers, secret)];
    const mask = 2 ** width - 1;
    const send = packed(
      values.map((value, i) => (value ^ low[i] ^ high[i]) & mask),
      width,
    );
    const received = yield { send, expects: packedBytes(values.length) };
    const flips = unpacked(received, values.length);
    return values.map((value, i) => (low[i] ^ (value & -flips[i])) & mask);
  }

  /**
   * Shared bits: whether the active party's number is greater than the passive party's. In blocks of digits by
   * one-of-16 transfers, then by pairs of blocks.
   * @param numbers this party's, below 2^width
   */
  async *greater(numbers: Residues, width: number): Steps<Uint8Array> {
    const digits = digitsOf(numbers, width);
    const received: Uint8Array = yield* this.isActive ? this.#sentDigits(digits) : this.#receivedDigits(digits);
    return yield* this.#joinedBlocks(received, countOf(numbers));
  }

  async *#receivedDigits(digits: Uint8Array): Steps<Uint8Array> {
    const { choices, ...range } = this.#transfers.received(digitBits * digits.length);
    const hashes = this.#transfers.kernel.hashWords(range);
    const flips = choices.map((choice, i) => choice ^ ((digits[i >>> 2] >>> (i & 3)) & 1));
    yield { send: packed(flips), expects: 0 };
    const tables = words(yield { send: new Uint8Array(0), expects: 4 * digits.length });
    return digits.map((digit, i) => {
      const word = tables[i] ^ hashes[4 * i] ^ hashes[4 * i + 1] ^ hashes[4 * i + 2] ^ hashes[4 * i + 3];
      return (word >>> (2 * digit)) & 3;
    });
  }

  async *#sentDigits(digits: Uint8Array): Steps<Uint8Array> {
    const { kernel, secret } = this.#transfers;
    const transfers = this.#transfers.sent(digitBits * digits.length);
    const [low, high] = [kernel.hashWords(transfers), kernel.hashWords(transfers, secret)];
    const flips = unpacked(yield { send: new Uint8Array(0), expects: packedBytes(low.length) }, low.length);
    const coins = this.#random.fill(new Uint8Array(digits.length));
    const tables = new Uint32Array(digits.length);
    for (let i = 0; i < digits.length; i++) {
      coins[i] &= 3;
      // Of each v of 16 the bits [digit > v] and [digit = v], side by side.
      const greater = (2 ** (2 * digits[i]) - 1) & 0x55555555;
      let word = (greater | (2 << (2 * digits[i]))) ^ (0x55555555 * coins[i]);
      for (let bit = 0, at = 4 * i; bit < digitBits; bit++, at++) {
        const swapped = (low[at] ^ high[at]) & -flips[at];
        word ^= ((low[at] ^ swapped) & ~withBit[bit]) ^ ((high[at] ^ swapped) & withBit[bit]);
      }
      tables[i] = word;
    }
    yield { send: bytesOf(tables), expects: 0 };
    return coins;
  }

  /** @param blocks per block and number whether it is greater, and 2 if it is equal; the lowest blocks first */
  async *#joinedBlocks(blocks: Uint8Array, count: number): Steps<Uint8Array> {
    let all = blocks;
    while (all.length > count) {
      const blockCount = all.length / count;
      const pairs = Math.floor(blockCount / 2);
      const block = (index: number): Uint8Array => all.subarray(index * count, (index + 1) * count);
      const equal = new Uint8Array(pairs * count);
      const lower = new Uint8Array(pairs * count);
      for (let pair = 0; pair < pairs; pair++) {
        equal.set(
          block(2 * pair + 1).map((bits) => bits >>> 1),
          pair * count,
        );
        lower.set(block(2 * pair), pair * count);
      }
      const next = new Uint8Array(Math.ceil(blockCount / 2) * count);
      next.set(yield* this.ands(equal, lower, 2));
      for (let pair = 0; pair < pairs; pair++) {
        const high = block(2 * pair + 1);
        for (let i = 0; i < count; i++) next[pair * count + i] ^= high[i] & 1;
      }
      if (blockCount % 2 === 1) next.set(block(blockCount - 1), pairs * count);
      all = next;
    }
    return all.map((bits) => bits & 1);
  }

  /** Shared bits: the carry out of the low `width` bits of the two shares' sum. */
  async *carries(shares: Residues, width: number): Steps<Uint8Array> {
    const low = reduce(shares.slice(), width);
    if (this.isActive) return yield* this.greater(low, width);
    // a + b >= 2^width iff a > 2^width - 1 - b
    return yield* this.greater(minus(constants(2n ** BigInt(width) - 1n, countOf(low)), low, width), width);
  }

  /** Shared bits: whether a signed number modulo 2^width is below 0. */
  async *areNegative(shares: Residues, width: number): Steps<Uint8Array> {
    const carries = yield* this.carries(shares, width - 1);
    const tops = bitsAt(shares, width - 1);
    return carries.map((carry, i) => carry ^ tops[i]);
  }
}

/** Numbers of `width` bits, one for each of some bits. */
export interface Column {
  readonly values: Residues;
  readonly width: number;
}

/** Which bits of a table's word belong to values that have a bit. */
const withBit = Uint32Array.of(0xcccccccc, 0xf0f0f0f0, 0xff00ff00, 0xffff0000);

/** Digits of all numbers, the lowest digits first. */
function digitsOf(numbers: Residues, width: number): Uint8Array {
  const count = countOf(numbers);
  const digits = new Uint8Array(Math.ceil(width / digitBits) * count);
  for (let i = 0; i < digits.length; i++) {
    const bit = digitBits * Math.floor(i / count);
    digits[i] = (numbers[wordsEach * (i % count) + (bit >>> 5)] >>> (bit & 31)) & 15;
  }
  return digits;
}

function jobOf({ bits, factorCount, factors, widths }: ProductShape, range: RowRange): ProductJob {
  const used = new Uint32Array(factorCount);
  const uses = factors.map((factor) => used[factor]++);
  return { ...range, bits, factors, uses, widths };
}
