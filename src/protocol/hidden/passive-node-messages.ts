/** The messages of one node: the first, and all that follow it. */
import { create } from "@bufbuild/protobuf";
import { TandemError } from "../../base/error.ts";
import { type ActiveNode, ActiveNodeSchema } from "../../wire/generated/tandem/v1/tandem_pb.ts";
import { digests } from "../chain/digests.ts";

export class NodeMessages implements AsyncIterable<Uint8Array> {
  /** Bytes of the messages read so far. */
  bytes = 0;
  readonly #first: ActiveNode;
  readonly #rest: AsyncIterator<ActiveNode>;
  readonly #chunks: Uint8Array[] = [];

  constructor(first: ActiveNode, rest: AsyncIterator<ActiveNode>) {
    this.#first = first;
    this.#rest = rest;
  }

  /** Of all messages read so far: what is requested, and its gradients. */
  get digest(): Uint8Array {
    const { tree, node, members, colsampleBytree } = this.#first;
    const place = members === undefined ? {} : { members };
    const request = create(ActiveNodeSchema, { tree, node, colsampleBytree, ...place });
    return digests.bytes(digests.message(request), ...this.#chunks);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    const { tree, node } = this.#first;
    for (let message = this.#first; ;) {
      this.bytes += message.scheme.length;
      this.#chunks.push(digests.shared(message.scheme));
      yield message.scheme;
      if (!message.more) return;
      const next = await this.#rest.next();
      if (next.done === true || next.value.tree !== tree || next.value.node !== node)
        throw new TandemError("PROTOCOL_STATE", `node ${node}: message stream truncated`);
      message = next.value;
    }
  }
}
