/** The messages of one node at a passive party: the records of each output, complete before the next output. */
import { TandemError } from "../../base/error.ts";
import type { HintSecrets } from "../../crypto/lattice/hint-secrets.ts";
import type { NodeSums } from "../../crypto/lattice/node-sums.ts";
import { LatticeNodeSchema } from "../../wire/generated/tandem/v1/lattice_pb.ts";
import { decodeMessage } from "../../wire/scheme-message.ts";
import type { RowBlocks } from "./row-blocks.ts";

export class ReceivedNode {
  readonly #secrets: HintSecrets;
  readonly #rows: RowBlocks;
  readonly #outputCount: number;
  readonly #outputs: NodeSums[] = [];

  constructor(secrets: HintSecrets, rows: RowBlocks, outputCount: number) {
    this.#secrets = secrets;
    this.#rows = rows;
    this.#outputCount = outputCount;
  }

  /** @throws TandemError PROTOCOL_STATE for records out of order, CIPHERTEXT_RANGE for one that is not canonical */
  async take(message: Uint8Array): Promise<number> {
    const { output, firstRecord, records } = decodeMessage(LatticeNodeSchema, message);
    const last = this.#outputs.length - 1;
    if (output !== (firstRecord === 0 ? last + 1 : last) || output >= this.#outputCount)
      throw new TandemError("PROTOCOL_STATE", `records of output ${output} are not consecutive`);
    if (firstRecord === 0) this.#outputs.push(this.#secrets.beginNode(this.#rows.ofOutput(output)));
    await this.#outputs[output].add(firstRecord, records);
    return records.length;
  }

  /**
   * Per output the words of all candidates with hints.
   * @param asked the node, and the digest of all messages that requested it
   * @param noiseOf the noise added to an output's sums
   */
  async answer(
    { tree, node, digest }: { readonly tree: number; readonly node: number; readonly digest: Uint8Array },
    noiseOf: (output: number) => Float64Array | null,
  ): Promise<Uint8Array[]> {
    if (this.#outputs.length !== this.#outputCount)
      throw new TandemError("PROTOCOL_STATE", `a node has ${this.#outputCount} outputs; some are missing`);
    const words: Uint8Array[] = [];
    for (const [output, sums] of this.#outputs.entries())
      words.push(await sums.answer(noiseOf(output), { tree, node, output }, digest));
    return words;
  }
}
