/**
 * What each passive party is asked about the nodes of a level: who is in them where members are told, and otherwise
 * gradients of their own, which are sealed once and read by every party's connection.
 *
 * A party that cannot count who is in a node says how many there must be at least. It is asked about neither child of a
 * pair of which one has fewer, nor about anything below them: who has a parent's sums and one child's has the other's.
 *
 * Where features interact in groups only, a party is asked about the nodes that some feature of its own may split, and
 * told which of its groups are open there.
 *
 * @reveals passive: which nodes are parents and siblings, where members are hidden; the names of all interaction
 *   groups, and at each node that it is asked about which of the interaction groups that it has features in are open
 */
import { bitmapFrom } from "../../wire/bitmap.ts";
import type { Interactions } from "../../gbdt/split/interactions.ts";
import { type GrowingNode, type NodePair, rootId } from "../../gbdt/tree/grow.ts";
import type { ActiveHidden, GradientChunk } from "../../scheme/scheme.ts";
import { Broadcast } from "./broadcast.ts";
import type { TreeTask } from "./federated-tree.ts";
import type { NodeRequest } from "./node-request.ts";

/** Chunks of a node's gradients that may wait for a slow party. */
const chunksAhead = 4;

/** A node, and where it stands. */
export interface AskedNode {
  readonly node: GrowingNode;
  /** Null for the root. */
  readonly pair: NodePair | null;
}

type AskingTask = Pick<
  TreeTask,
  "tree" | "outputs" | "gradients" | "sessions" | "hidden" | "sendsTreeShape" | "sealedRoot"
>;

export class AskedNodes {
  readonly #task: AskingTask;
  /** Per session the nodes that it is not asked about. */
  readonly #closed: readonly Set<number>[];

  constructor(task: AskingTask) {
    this.#task = task;
    this.#closed = task.sessions.map(() => new Set<number>());
  }

  /** Learns of the root, before it is asked about. */
  openRoot({ id, sampled }: GrowingNode): void {
    this.#task.sessions.forEach(({ nodeMinimum }, session) => {
      if (nodeMinimum > 1 && sampled.length < nodeMinimum) this.#closed[session].add(id);
    });
  }

  /** Learns of the children of split nodes, before they are asked about. */
  open(pairs: readonly NodePair[]): void {
    this.#task.sessions.forEach(({ nodeMinimum, groups }, session) => {
      const closed = this.#closed[session];
      for (const { parent, left, right } of pairs) {
        const isSmall = nodeMinimum > 1 && Math.min(left.sampled.length, right.sampled.length) < nodeMinimum;
        const isOpen = maySplit(left.interactions, session + 1, groups);
        if (isSmall || !isOpen || closed.has(parent.id)) closed.add(left.id).add(right.id);
      }
    });
  }

  isClosed(session: number, node: number): boolean {
    return this.#closed[session].has(node);
  }

  /** Per session its requests, in the order of the nodes. */
  requests(nodes: readonly AskedNode[]): NodeRequest[][] {
    const { sessions, hidden } = this.#task;
    const requests = sessions.map((): NodeRequest[] => []);
    for (const asked of nodes) {
      const open = sessions.flatMap((_, session) => (this.isClosed(session, asked.node.id) ? [] : [session]));
      if (open.length === 0) continue;
      const request = hidden === null ? toldRequest(asked) : hiddenRequest(asked, this.#task.sendsTreeShape);
      const sealed = hidden && this.#seal(hidden, asked.node);
      for (const session of open) {
        const own = withOpen(request, asked.node.interactions, sessions[session].groups);
        requests[session].push(sealed === null ? own : { ...own, sealed: sealed.reader() });
      }
    }
    return requests;
  }

  #seal(hidden: ActiveHidden, { id: node, sampled }: GrowingNode): Broadcast<GradientChunk> {
    const { tree, outputs, gradients, sealedRoot } = this.#task;
    if (node === rootId && sealedRoot !== null) return sealedRoot;
    return new Broadcast(hidden.seal({ tree, node, outputs, sampled, gradients }), chunksAhead);
  }
}

/** Whether some feature of a party may split a node. */
function maySplit(interactions: Interactions | null, owner: number, groups: number): boolean {
  if (interactions === null) return true;
  return interactions.alone === null ? (interactions.open & groups) !== 0 : interactions.alone.owner === owner;
}

/** A party hears of its own groups only. */
function withOpen(request: NodeRequest, interactions: Interactions | null, groups: number): NodeRequest {
  if (interactions === null || request.origin === null) return request;
  return { ...request, origin: { ...request.origin, open: interactions.open & groups } };
}

function toldRequest({ node, pair }: AskedNode): NodeRequest {
  const sizes = { node: node.id, instanceCount: node.instances.length, sampledCount: node.sampled.length };
  if (pair === null) return { ...sizes, origin: null };
  const { parent, left, right } = pair;
  const sibling = node === left ? right : left;
  // Both list their instances in the same order.
  let next = 0;
  const members = bitmapFrom(parent.instances.length, (i) => {
    const isMember = parent.instances[i] === node.instances[next];
    if (isMember) next++;
    return isMember;
  });
  return { ...sizes, origin: { parent: parent.id, sibling: sibling.id, members } };
}

/** @param sendsTreeShape what is offered depends on where the node stands */
function hiddenRequest({ node, pair }: AskedNode, sendsTreeShape: boolean): NodeRequest {
  const sizes = { node: node.id, instanceCount: node.instances.length, sampledCount: node.sampled.length };
  if (pair === null || !sendsTreeShape) return { ...sizes, origin: null };
  const sibling = node === pair.left ? pair.right : pair.left;
  return { ...sizes, origin: { parent: pair.parent.id, sibling: sibling.id, members: new Uint8Array(0) } };
}
