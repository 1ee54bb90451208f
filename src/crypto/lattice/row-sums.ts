/** The rows of one node, summed per bin: integers modulo q, independent of the order and place of addition. */
import { TandemError } from "../../base/error.ts";
import type { Lattice } from "./kernel.ts";

/** Receives a node's records of rows. */
export interface RowSums {
  /** @throws TandemError CIPHERTEXT_RANGE for a non-canonical record, here or later in cells() */
  add(firstRow: number, records: Uint8Array): Promise<void>;
  /** Sums of all added rows. */
  cells(): Promise<BigUint64Array>;
}

/** In this process. */
export class HeldRowSums implements RowSums {
  readonly #lattice: Lattice;
  readonly #rowBins: Uint8Array;
  readonly #binCounts: Uint32Array;
  readonly #firstRow: number;
  readonly #cells: BigUint64Array;

  /**
   * @param rowBins bins of the rows that are summed here, in the lattice's format
   * @param firstRow index of the first of these among all rows of the node
   */
  constructor(lattice: Lattice, rowBins: Uint8Array, binCounts: Uint32Array, firstRow = 0) {
    this.#lattice = lattice;
    this.#rowBins = rowBins;
    this.#binCounts = binCounts;
    this.#firstRow = firstRow;
    this.#cells = noCells(lattice, binCounts);
  }

  async add(firstRow: number, records: Uint8Array): Promise<void> {
    const own = firstRow - this.#firstRow;
    const refused = await this.#lattice.accumulate(this.#rowBins, this.#binCounts, records, own, this.#cells);
    checkCanonical(refused, this.#lattice.shape.set.degree + firstRow);
  }

  async cells(): Promise<BigUint64Array> {
    return this.#cells;
  }
}

/** Empty sums. */
export function noCells(lattice: Lattice, binCounts: Uint32Array): BigUint64Array {
  return new BigUint64Array(lattice.cellCount(binCounts.reduce((a, b) => a + b, 0)));
}

/** @param refused -1, or the first index that the kernel rejects */
export function checkCanonical(refused: number, firstRecord: number): void {
  if (refused < 0) return;
  throw new TandemError("CIPHERTEXT_RANGE", `record ${firstRecord + refused} of a node is not canonical`);
}
