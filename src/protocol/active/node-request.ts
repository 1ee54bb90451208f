/**
 * What a passive party is asked about nodes, as it travels: who is in each where members are told, and otherwise the
 * node's own gradients, chunk by chunk.
 */
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { membersSeen, openGroupsSeen, sealedNodeSeen } from "../../privacy/observation.ts";
import type { Tally } from "../../privacy/tally.ts";
import type { ActiveScheme, GradientChunk } from "../../scheme/scheme.ts";
import { type ActiveNode, ActiveNodeSchema } from "../../wire/generated/tandem/v1/tandem_pb.ts";

/** Where a node stands. */
export interface NodeOrigin {
  readonly parent: number;
  readonly sibling: number;
  readonly members: Uint8Array;
  /** Interaction groups that are open there, of those that the party has features in; left out: the job has none. */
  readonly open?: number;
}

/** A node whose candidate sums are wanted. */
export interface NodeRequest {
  readonly node: number;
  /** Null for the root. */
  readonly origin: NodeOrigin | null;
  readonly instanceCount: number;
  /** Those that are summed. */
  readonly sampledCount: number;
  /** Its own gradients, where members are hidden: then `origin` has an empty bitmap, or is null. */
  readonly sealed?: AsyncIterable<GradientChunk>;
}

/** What is asked with is counted, and what the party sees of it. */
type Asking = Pick<ActiveScheme, "node" | "counts">;

export async function* nodeMessages(
  tree: number,
  requests: readonly NodeRequest[],
  scheme: Asking,
  tally: Tally,
): AsyncGenerator<ActiveNode> {
  for (const { node, origin, instanceCount, sealed } of requests) {
    if (origin?.open !== undefined) tally.see(openGroupsSeen({ tree, node }));
    if (sealed !== undefined) {
      yield* sealedMessages(tree, { node, origin, sealed }, scheme, tally);
      continue;
    }
    const message = { tree, node, scheme: scheme.node(node) };
    tally.see(membersSeen(message, origin, instanceCount));
    yield create(ActiveNodeSchema, { ...message, members: origin === null ? { isRoot: true } : origin });
  }
}

/** Each message says whether another of the node follows. */
async function* sealedMessages(
  tree: number,
  { node, origin, sealed }: Required<Pick<NodeRequest, "node" | "origin" | "sealed">>,
  { counts }: Asking,
  tally: Tally,
): AsyncGenerator<ActiveNode> {
  let [ciphertexts, bytes] = [0, 0];
  let before: ActiveNode | null = null;
  let isFirst = true;
  for await (const chunk of sealed) {
    if (before !== null) yield { ...before, more: true };
    const message: MessageInitShape<typeof ActiveNodeSchema> = { tree, node, scheme: chunk.message };
    if (isFirst && origin !== null) message.members = origin;
    isFirst = false;
    before = create(ActiveNodeSchema, message);
    ciphertexts += chunk.ciphertexts;
    bytes += chunk.message.length;
    if (chunk.more !== true) continue;
    yield { ...before, more: true };
    before = null;
  }
  counts.gradientCiphertexts += ciphertexts;
  tally.see(sealedNodeSeen(tree, node, ciphertexts, bytes));
  if (before !== null) yield before;
}
