/** The messages with a node's own gradients: in chunks, each saying whether another one follows. */
import { create } from "@bufbuild/protobuf";
import type { Tally } from "../../messages/tally.ts";
import type { GradientChunk, OperationCounts } from "../../scheme/scheme.ts";
import { type ActiveNode, ActiveNodeSchema } from "../../wire/generated/tandem/v1/tandem_pb.ts";

export interface SealedRequest {
  readonly tree: number;
  readonly node: number;
  /** The node's position in the tree, if requests contain it. */
  readonly origin: { readonly parent: number; readonly sibling: number; readonly open?: number } | null;
  /** In a round's first node: as in proto/. */
  readonly colsampleBytree?: number;
}

/** @param isSendable the last message is sent when this settles */
export async function* sealedMessages(
  { tree, node, origin, colsampleBytree = 0 }: SealedRequest,
  chunks: AsyncIterable<GradientChunk>,
  isSendable: Promise<unknown>,
  counts: OperationCounts,
  tally: Tally,
): AsyncGenerator<ActiveNode> {
  let [ciphertexts, bytes] = [0, 0];
  let before: ActiveNode | null = null;
  let isFirst = true;
  for await (const chunk of chunks) {
    if (before !== null) yield { ...before, more: true };
    const place = isFirst && origin !== null ? { members: origin } : {};
    const rate = isFirst ? { colsampleBytree } : {};
    isFirst = false;
    before = create(ActiveNodeSchema, { tree, node, scheme: chunk.message, ...place, ...rate });
    ciphertexts += chunk.ciphertexts;
    bytes += chunk.message.length;
    if (chunk.more !== true) continue;
    yield { ...before, more: true };
    before = null;
  }
  counts.gradientCiphertexts += ciphertexts;
  tally.see("encrypted node", tree, node, ciphertexts, bytes);
  await isSendable;
  if (before !== null) yield before;
}
