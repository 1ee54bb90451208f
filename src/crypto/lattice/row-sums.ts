/** The rows of one node, summed per bin: integers modulo q, the same whoever adds them up and in whatever order. */
import { TandemError } from "../../base/error.ts";
import type { Lattice } from "./kernel.ts";

/** Where a node's records of rows go. */
export interface RowSums {
  /** @throws TandemError CIPHERTEXT_RANGE for a record that is not canonical; it may be cells() that throws it */
  add(firstRow: number, records: Uint8Array): Promise<void>;
  /** Sums of all rows that were added. */
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
   * @param rowBins of the rows that are summed here, as the lattice lays them
   * @param firstRow of these among all of the node
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

/** Sums over nobody. */
export function noCells(lattice: Lattice, binCounts: Uint32Array): BigUint64Array {
  return new BigUint64Array(lattice.cellCount(binCounts.reduce((a, b) => a + b, 0)));
}

/** @param refused -1, or what the kernel refuses first */
export function checkCanonical(refused: number, firstRecord: number): void {
  if (refused < 0) return;
  throw new TandemError("CIPHERTEXT_RANGE", `record ${firstRecord + refused} of a node is not canonical`);
}
