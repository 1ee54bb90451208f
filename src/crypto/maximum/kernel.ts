/**
 * What costs time in the comparison of candidates: the extension of transfers, and products by transfers. The native
 * addon implements it, and so does the portable TypeScript kernel, its oracle: all bytes are equal.
 *
 * A transfer is a row of 128 bits: the sender has q, the receiver a random bit r and t = q xor r D. Its hash H with a
 * number of its use (block-cipher.ts, hashRows) gives the sender two numbers h0 = H(q), h1 = H(q xor D), and the
 * receiver one of them.
 */
import type { Residues } from "./maximum.ts";

export interface MaximumKernel {
  readonly name: string;
  /** @param trees keys of all leaves; null for the leaf that is missing, whose number then becomes 0 */
  leaves(trees: readonly (readonly (Uint8Array | null)[])[]): LeafStreams;
  /** As ColumnHash of matrix-proof.ts, for columns of a multiple of four words. */
  columnHashes(point: Uint8Array, columns: Uint32Array, wordCount: number): Uint32Array;
  /** Rows from columns, as bit-transpose.ts; without the columns' last `maskWords` words. */
  rows(columns: Uint32Array, wordCount: number): Uint32Array;
  /** The first word of each row's hash, for a use number of 0. @param added to every row before */
  hashWords(rows: RowRange, added?: Uint32Array): Uint32Array;
  corrections(job: ProductJob, secret: Uint32Array, numbers: Residues): SentProducts;
  /** The sender's shares of all products, with the receiver's flips. */
  senderShares(job: ProductJob, numbers: Residues, held: Uint32Array, flips: Uint8Array): Residues;
  /** @param choices the random bit of each row */
  receiverShares(job: ProductJob, choices: Uint8Array, flips: Uint8Array, corrections: Uint8Array): Residues;
}

export interface LeafStreams {
  /** A piece of all streams, summed up as bit-columns.ts does: per tree its columns, and the sum of all leaves. */
  fold(place: StreamPlace, wordCount: number, columns: Uint32Array, sums: Uint32Array): void;
}

export interface StreamPlace {
  readonly batch: number;
  readonly block: number;
}

/** Rows of transfers. */
export interface RowRange {
  readonly rows: Uint32Array;
  readonly batch: number;
  /** The first row's number in the batch. */
  readonly first: number;
}

/**
 * Products of the receiver's numbers ("factors") with numbers of the sender. Bit b of a factor is chosen by a transfer
 * of its own, row `bits * factor + b`. All bits of one factor may be multiplied with several numbers.
 */
export interface ProductJob extends RowRange {
  readonly bits: number;
  /** Per product its factor, the number of its use among the factor's products, and the width of its result. */
  readonly factors: Uint32Array;
  readonly uses: Uint32Array;
  readonly widths: Uint8Array;
}

export interface SentProducts {
  /** Per product and bit b, width - b bits: the number less (h1 - h0). */
  readonly corrections: Uint8Array;
  /** h0 of each, four words. */
  readonly held: Uint32Array;
}

/** Bits of all corrections. */
export function correctionBits({ bits, widths }: Pick<ProductJob, "bits" | "widths">): number {
  let count = 0;
  for (const width of widths) {
    const used = Math.min(bits, width);
    count += used * width - (used * (used - 1)) / 2;
  }
  return count;
}
