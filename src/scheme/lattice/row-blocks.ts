/** The rows of a node at a passive party, distributed over its blocks: takes records, returns sums per bin. */
import { receivedBuffers } from "../../base/reused-buffers.ts";
import type { Lattice } from "../../crypto/lattice/kernel.ts";
import { noCells, type RowSums } from "../../crypto/lattice/row-sums.ts";
import { LatticeBlockQuestionSchema, LatticeBlockRecordsSchema } from "../../wire/generated/tandem/v1/blocks_pb.ts";
import { encodeMessage } from "../../wire/scheme-message.ts";
import { type Answer, nothing } from "../blocks/block.ts";
import { blockParts } from "../blocks/block-bounds.ts";
import type { Blocks } from "../blocks/crew.ts";
import { HeldCells } from "./block.ts";

export class RowBlocks {
  readonly #blocks: Blocks;
  readonly #lattice: Lattice;
  readonly #binCounts: Uint32Array;

  constructor(blocks: Blocks, lattice: Lattice, binCounts: Uint32Array) {
    this.#blocks = blocks;
    this.#lattice = lattice;
    this.#binCounts = binCounts;
  }

  /** Begins a node: nodes are independent, so the logs begin anew. */
  beginNode(): Promise<void> {
    return this.#blocks.begin();
  }

  ofOutput(output: number): RowSums {
    return {
      add: (firstRow, records) => this.#add(output, firstRow, records),
      cells: () => this.#cells(output),
    };
  }

  close(): void {
    this.#blocks.close().catch(() => {}); // not awaited: the result is not needed
  }

  async #add(output: number, firstRow: number, records: Uint8Array): Promise<void> {
    const { recordBytes: size } = this.#lattice.shape.set;
    for (const { block, from, to } of blockParts(this.#blocks.bounds, firstRow, records.length / size))
      await this.#blocks.append(block, {
        head: encodeMessage(LatticeBlockRecordsSchema, { output, firstRow: firstRow + from }),
        payload: records.subarray(from * size, to * size),
      });
    // Workers' records are sent later, or again.
    if (!this.#blocks.isElsewhere) receivedBuffers.release(records.buffer);
  }

  async #cells(output: number): Promise<BigUint64Array> {
    const question = { head: encodeMessage(LatticeBlockQuestionSchema, { output }), payload: nothing };
    const answers = await this.#blocks.ask(Array.from(this.#blocks.bounds.subarray(1), () => question));
    const [first] = answers;
    if (answers.length === 1 && first instanceof HeldCells) return first.cells;
    return this.#sum(answers.filter((answer) => answer !== null));
  }

  async #sum(answers: readonly Answer[]): Promise<BigUint64Array> {
    const cells = noCells(this.#lattice, this.#binCounts);
    for (const answer of answers) this.#lattice.addCells(await answer.bytes(), cells);
    return cells;
  }
}
