/**
 * Which passive parties are asked about the nodes of a level.
 *
 * A party that cannot count who is in a node says how many there must be at least. It is asked about neither child of a
 * pair of which one has fewer, nor about anything below them: who has a parent's sums and one child's has the other's.
 *
 * Where features interact in groups only, a party is asked about the nodes that some feature of its own may split, and
 * its request names those of its groups that are open there.
 *
 * @reveals passive: the names of all interaction groups, and at each node that it is asked about which of the
 *   interaction groups that it has features in are open
 */
import type { Interactions } from "../../gbdt/split/interactions.ts";
import type { GrowingNode, NodePair } from "../../gbdt/tree/grow.ts";
import type { ActiveNode } from "../../wire/generated/tandem/v1/tandem_pb.ts";
import type { TreeTask } from "./federated-tree.ts";
import type { AskedNode } from "./membership.ts";
import type { PeerSession } from "./peer-session.ts";

type AskingTask = Pick<TreeTask, "tree" | "sessions" | "membership">;

/** What one party is asked, in the order of the nodes. */
export interface SessionQuestion {
  readonly nodes: readonly { readonly node: number; readonly sampledCount: number }[];
  readonly messages: AsyncIterable<ActiveNode>;
}

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

  /** Per session its question. */
  questions(nodes: readonly AskedNode[]): SessionQuestion[] {
    const { sessions, membership } = this.#task;
    const asked = sessions.map((): { node: number; sampledCount: number }[] => []);
    const messages = sessions.map((): AsyncIterable<ActiveNode>[] => []);
    for (const each of nodes) {
      const { id, sampled, interactions } = each.node;
      const open = sessions.flatMap((_, session) => (this.isClosed(session, id) ? [] : [session]));
      if (open.length === 0) continue;
      const question = membership.question(each);
      for (const session of open) {
        // A party hears of its own groups only.
        const groups =
          interactions === null || each.pair === null ? undefined : interactions.open & sessions[session].groups;
        asked[session].push({ node: id, sampledCount: sampled.length });
        messages[session].push(
          this.#withGroups(sessions[session], id, groups, question.messages(sessions[session], groups)),
        );
      }
    }
    return sessions.map((_, session) => ({ nodes: asked[session], messages: joined(messages[session]) }));
  }

  async *#withGroups(
    { tally }: PeerSession,
    node: number,
    groups: number | undefined,
    messages: AsyncIterable<ActiveNode>,
  ): AsyncGenerator<ActiveNode> {
    if (groups !== undefined) tally.see("open groups", { tree: this.#task.tree, node });
    yield* messages;
  }
}

async function* joined<T>(parts: readonly AsyncIterable<T>[]): AsyncGenerator<T> {
  for (const part of parts) yield* part;
}

/** Whether some feature of a party may split a node. */
function maySplit(interactions: Interactions | null, owner: number, groups: number): boolean {
  if (interactions === null) return true;
  return interactions.alone === null ? (interactions.open & groups) !== 0 : interactions.alone.owner === owner;
}
