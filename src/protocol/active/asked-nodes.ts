/**
 * Chooses the nodes of a level that are requested from each passive party.
 *
 * A party that cannot count the members of a node announces a minimum. If one child of a pair has fewer, neither child
 * nor any descendant is requested: the sums of the parent and of one child give those of the other.
 *
 * With interaction constraints a party receives requests only for nodes that some feature of its own may split, and
 * each names those of its groups that are allowed there.
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

/** The request to one party, in the order of the nodes. */
export interface SessionQuestion {
  readonly nodes: readonly { readonly node: number; readonly sampledCount: number }[];
  readonly messages: AsyncIterable<ActiveNode>;
}

export class AskedNodes {
  readonly #task: AskingTask;
  /** Per session the nodes that are not requested. */
  readonly #closed: readonly Set<number>[];

  constructor(task: AskingTask) {
    this.#task = task;
    this.#closed = task.sessions.map(() => new Set<number>());
  }

  /** Adds the root, before it is requested. */
  openRoot({ id, sampled }: GrowingNode): void {
    this.#task.sessions.forEach(({ nodeMinimum }, session) => {
      if (nodeMinimum > 1 && sampled.length < nodeMinimum) this.#closed[session].add(id);
    });
  }

  /** Adds the children of split nodes, before they are requested. */
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

  /** The request per session. */
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
        // A party receives only its own groups.
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
