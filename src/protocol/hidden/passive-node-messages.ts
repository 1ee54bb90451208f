/** The messages of one node: the first, and all that follow it. */
import { TandemError } from "../../base/error.ts";
import { noBytes } from "../../messages/call.ts";
import { NodeDigest } from "../../messages/histograms.ts";
import type { ActiveNode } from "../../wire/generated/tandem/v1/tandem_pb.ts";
import { digests } from "../chain/digests.ts";
import type { SignedGradients } from "../passive/round-store.ts";

export class NodeMessages implements AsyncIterable<Uint8Array> {
  /** Bytes of the messages read so far. */
  bytes = 0;
  readonly #first: ActiveNode;
  readonly #rest: AsyncIterator<ActiveNode>;
  readonly #digest = new NodeDigest(digests);
  /** From the last message: a copy, since its memory is used again when its records are summed. */
  #signed = { signature: noBytes, entries: noBytes };

  constructor(first: ActiveNode, rest: AsyncIterator<ActiveNode>) {
    this.#first = first;
    this.#rest = rest;
  }

  /** The whole request, when all messages are read. */
  get signed(): SignedGradients & { readonly node: number } {
    const { tree, node } = this.#first;
    return { tree, node, digest: this.#digest.digest, ...this.#signed };
  }

  /** Digest of the node's gradients, in hex: equal for equal questions about roots in a job with noise. */
  get gradients(): string {
    return Buffer.from(this.#digest.gradients).toString("hex");
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    const { tree, node } = this.#first;
    for (let message = this.#first; ;) {
      this.bytes += message.scheme.length;
      this.#digest.add(message);
      if (!message.more) this.#signed = { signature: message.signature.slice(), entries: message.entries.slice() };
      yield message.scheme;
      if (!message.more) return;
      const next = await this.#rest.next();
      if (next.done === true || next.value.tree !== tree || next.value.node !== node)
        throw new TandemError("PROTOCOL_STATE", `node ${node}: message stream truncated`);
      message = next.value;
    }
  }
}
