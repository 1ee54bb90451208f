/** The portable kernel of the comparison of candidates; slow, and the oracle of the native one. */
import { transposed } from "../transfer/bit-transpose.ts";
import { hashRows, Streams, wordsPerBlock } from "../transfer/block-cipher.ts";
import { ColumnHash, maskWords } from "../transfer/matrix-proof.ts";
import { addResidues, negatives } from "../transfer/residues.ts";
import {
  correctionBits,
  type LeafStreams,
  type MaximumKernel,
  type ProductJob,
  type SentProducts,
  type StreamPlace,
} from "./kernel.ts";
import type { Residues } from "./maximum.ts";
import { BitReader, BitWriter } from "./packed-bits.ts";
import {
  gathered,
  negatedWhere,
  part,
  plus,
  reduce,
  shiftedLeft,
  wordMasks,
  wordsEach,
  zeros,
} from "./wide-residues.ts";

class PortableLeaves implements LeafStreams {
  readonly #trees: readonly { readonly streams: Streams; readonly missing: number }[];

  constructor(trees: readonly (readonly (Uint8Array | null)[])[]) {
    this.#trees = trees.map((leaves) => {
      const missing = leaves.indexOf(null);
      const keys = leaves.map((_, i) => leaves[missing < 0 ? i : i ^ missing]);
      return { streams: new Streams(keys.filter((key) => key !== null)), missing };
    });
  }

  fold(place: StreamPlace, wordCount: number, columns: Uint32Array, sums: Uint32Array): void {
    for (const [tree, { streams, missing }] of this.#trees.entries()) {
      const all = streams.columns(place, wordCount);
      const leaves = missing < 0 ? all : new Uint32Array(all.length + wordCount);
      if (missing >= 0) leaves.set(all, wordCount);
      let half = leaves.length / 2;
      for (let bit = Math.log2(leaves.length / wordCount) - 1; bit >= 0; bit--, half /= 2) {
        const at = ((columns.length / wordCount / this.#trees.length) * tree + bit) * wordCount;
        const column = columns.subarray(at, at + wordCount).fill(0);
        for (let from = half; from < 2 * half; from += wordCount)
          for (let w = 0; w < wordCount; w++) {
            column[w] ^= leaves[from + w];
            leaves[from + w - half] ^= leaves[from + w];
          }
      }
      sums.set(leaves.subarray(0, wordCount), tree * wordCount);
    }
  }
}

/** The rows of each product's factor. */
function rowsOf({ rows, bits, factors }: ProductJob, product: number): Uint32Array {
  const from = wordsPerBlock * bits * factors[product];
  return rows.subarray(from, from + wordsPerBlock * bits);
}

function hashesOf(job: ProductJob, product: number, rows: Uint32Array): Uint32Array {
  return hashRows(rows, job.batch, job.first + job.bits * job.factors[product], wordsEach, job.uses[product]);
}

function sumOfBits(values: Uint32Array, width: number): Uint32Array {
  let sum = zeros(1);
  for (let bit = 0; bit < values.length / wordsEach && bit < width; bit++)
    sum = plus(sum, shiftedLeft(part(values, bit, bit + 1), bit, width), width);
  return sum;
}

/** The flips of a product's factor. */
function flipsOf({ bits, factors }: ProductJob, product: number, flips: Uint8Array): Uint8Array {
  return flips.subarray(bits * factors[product], bits * (factors[product] + 1));
}

export const portableMaximumKernel: MaximumKernel = {
  name: "portable",

  leaves: (trees) => new PortableLeaves(trees),

  columnHashes: (point, columns, wordCount) => new ColumnHash(point).of(columns, wordCount),

  rows: (columns, wordCount) => transposed(columns, wordCount, 0, wordCount - maskWords),

  hashWords({ rows, batch, first }, added) {
    const hashed = added === undefined ? rows : rows.map((word, i) => word ^ added[i % wordsPerBlock]);
    return hashRows(hashed, batch, first, 1);
  },

  corrections(job: ProductJob, secret: Uint32Array, numbers: Residues): SentProducts {
    const { bits, widths } = job;
    const writer = new BitWriter(correctionBits(job));
    const held = zeros(bits * widths.length);
    for (let product = 0; product < widths.length; product++) {
      const own = rowsOf(job, product);
      const low = hashesOf(job, product, own);
      const high = hashesOf(
        job,
        product,
        own.map((word, i) => word ^ secret[i % wordsPerBlock]),
      );
      held.set(low, wordsEach * bits * product);
      const sent = gathered(numbers, new Uint32Array(bits).fill(product));
      addResidues(sent, high, wordsEach, -1);
      addResidues(sent, low, wordsEach);
      for (let bit = 0; bit < bits && bit < widths[product]; bit++) {
        const masks = wordMasks(widths[product] - bit);
        for (let w = 0; w < wordsEach; w++)
          writer.put((sent[wordsEach * bit + w] & masks[w]) >>> 0, 32 - Math.clz32(masks[w]));
      }
    }
    return { corrections: writer.bytes(), held };
  },

  senderShares(job, numbers, held, flips) {
    const { bits, widths } = job;
    const shares = zeros(widths.length);
    for (let product = 0; product < widths.length; product++) {
      const own = flipsOf(job, product, flips);
      // -h0, or the number + h0.
      const shared = negatedWhere(negatives(part(held, bits * product, bits * (product + 1)), wordsEach), own, 128);
      const number = gathered(numbers, new Uint32Array(bits).fill(product));
      addResidues(
        shared,
        number.map((word, i) => word & -own[i >>> 2]),
        wordsEach,
      );
      shares.set(sumOfBits(shared, widths[product]), wordsEach * product);
    }
    return shares;
  },

  receiverShares(job, choices, flips, corrections) {
    const { bits, factors, widths } = job;
    const reader = new BitReader(corrections);
    const shares = zeros(widths.length);
    for (let product = 0; product < widths.length; product++) {
      const shared = hashesOf(job, product, rowsOf(job, product));
      const given = zeros(bits);
      for (let bit = 0; bit < bits && bit < widths[product]; bit++) {
        const masks = wordMasks(widths[product] - bit);
        const chosen = -choices[bits * factors[product] + bit];
        for (let w = 0; w < wordsEach; w++)
          given[wordsEach * bit + w] = reader.take(32 - Math.clz32(masks[w])) & chosen;
      }
      addResidues(shared, given, wordsEach);
      const share = sumOfBits(negatedWhere(shared, flipsOf(job, product, flips), 128), widths[product]);
      shares.set(reduce(share, widths[product]), wordsEach * product);
    }
    return shares;
  },
};
