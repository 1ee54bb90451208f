/**
 * The lattice scheme's work on a block: it validates the records of rows and adds them up per bin, modulo q. It knows
 * no mask, smudging noise or answer noise.
 */
import { TandemError } from "../../base/error.ts";
import type { Lattice, LatticeKernel, LatticeShape } from "../../crypto/lattice/kernel.ts";
import { HeldRowSums } from "../../crypto/lattice/row-sums.ts";
import { bigEndianBytes, bigEndianNumber } from "../../wire/big-endian.ts";
import {
  LatticeBlockQuestionSchema,
  LatticeBlockRecordsSchema,
  LatticeBlockTermsSchema,
} from "../../wire/generated/tandem/v1/blocks_pb.ts";
import { decodeMessage, encodeMessage } from "../../wire/scheme-message.ts";
import type { Answer, BinColumns, BlockData, BlockWork, Entry } from "../blocks/block.ts";
import { setNamed } from "./set-up.ts";

export function latticeBlockTerms({ set, t, slotBits, crsKey }: Omit<LatticeShape, "rowCount">): Uint8Array {
  return encodeMessage(LatticeBlockTermsSchema, { set: set.name, t: bigEndianBytes(t), slotBits, crsKey });
}

/** Sums per bin, as a kernel holds them. */
export class HeldCells implements Answer {
  readonly #lattice: Lattice;
  readonly cells: BigUint64Array;

  constructor(lattice: Lattice, cells: BigUint64Array) {
    this.#lattice = lattice;
    this.cells = cells;
  }

  async bytes(): Promise<Uint8Array> {
    return this.#lattice.cellBytes(this.cells);
  }
}

/** The records received for one output of the node. */
interface OutputRows {
  readonly sums: HeldRowSums;
  rows: number;
}

export class LatticeBlock implements BlockWork {
  readonly #lattice: Lattice;
  readonly #firstRow: number;
  readonly #columns: BinColumns;
  #rowBins: Promise<Uint8Array> | null = null;
  #outputs: OutputRows[] = [];

  constructor(kernel: LatticeKernel, { terms, firstRow, rowCount, columns }: BlockData, threads: number) {
    const { set, t, slotBits, crsKey } = decodeMessage(LatticeBlockTermsSchema, terms);
    const shape = { set: setNamed(set), rowCount, t: bigEndianNumber(t), slotBits, crsKey };
    this.#lattice = kernel.lattice(shape, threads);
    this.#firstRow = firstRow;
    this.#columns = columns;
  }

  begin(): void {
    this.#outputs = [];
  }

  async take({ head, payload }: Entry): Promise<void> {
    const { output, firstRow } = decodeMessage(LatticeBlockRecordsSchema, head);
    const { set, rowCount } = this.#lattice.shape;
    const { bins, binCounts } = this.#columns;
    if (output === this.#outputs.length) {
      this.#rowBins ??= this.#lattice.rowBins(bins, binCounts);
      const sums = new HeldRowSums(this.#lattice, await this.#rowBins, binCounts, this.#firstRow);
      this.#outputs.push({ sums, rows: 0 });
    }
    const own = this.#outputs[output];
    const count = payload.length / set.recordBytes;
    const fits = firstRow === this.#firstRow + (own?.rows ?? 0) && Number.isInteger(count);
    if (own === undefined || output !== this.#outputs.length - 1 || !fits || own.rows + count > rowCount)
      throw new TandemError("PROTOCOL_STATE", "records of rows that do not belong to the block's node");
    await own.sums.add(firstRow, payload);
    own.rows += count;
  }

  async answer({ head }: Entry): Promise<Answer> {
    const { output } = decodeMessage(LatticeBlockQuestionSchema, head);
    const own = this.#outputs[output];
    if (own?.rows !== this.#lattice.shape.rowCount)
      throw new TandemError("PROTOCOL_STATE", "records of the block are missing");
    return new HeldCells(this.#lattice, await own.sums.cells());
  }
}
