/**
 * The active party's side where members are hidden: every node is requested with gradients of its own, encrypted once,
 * and sent to every party. A round begins with its first node, whose last message is sent after the previous round is
 * stored: a passive party that has begun a round redoes no earlier one.
 *
 * @reveals passive: which nodes are parents and siblings, where members are hidden
 */
import { everyRow } from "../../base/rows/row-loops.ts";
import { ignoreUnhandled } from "../../base/scheduling/ignore-unhandled.ts";
import { rootId } from "../../gbdt/tree/grow.ts";
import type { BestCandidate } from "../../scheme/candidates/best-candidates.ts";
import type { HiddenActive } from "../../scheme/hidden-scheme.ts";
import type { GradientChunk } from "../../scheme/scheme.ts";
import { pickedBits } from "../../wire/bitmap.ts";
import { Broadcast, chunksAhead } from "../active/broadcast.ts";
import type {
  ActiveMembership,
  ActiveRound,
  AskedNode,
  NodeQuestion,
  RoundTerms,
  SetUpTerms,
  TreeMembership,
} from "../active/membership.ts";
import type { NodeSums } from "../active/member-sums.ts";
import type { PeerSession } from "../active/peer-session.ts";
import type { Decision, SplitAnswer } from "../active/split-decision.ts";
import { addsUpUncounted } from "../active/uncounted-member-sums.ts";
import { UncountedSums } from "../active/uncounted-sums.ts";
import { sealedMessages } from "./active-node-messages.ts";
import { OutcomeTransfers } from "./active-outcomes.ts";
import { nodesOfJob, outputsPerTree, runOf, sendsTreeShape } from "./terms.ts";

export class HiddenMembership implements ActiveMembership {
  readonly #scheme: HiddenActive;
  /** Requests name the parent and sibling of a node, because its candidates depend on them. */
  #sendsTreeShape = false;
  /** Per party, in a job that hides outcomes. */
  readonly #transfers = new Map<PeerSession, OutcomeTransfers>();

  constructor(scheme: HiddenActive) {
    this.#scheme = scheme;
  }

  async setUp(terms: SetUpTerms, sessions: readonly PeerSession[]): Promise<void> {
    const { agreed, jobId, layout, instanceCount, rows, skipBin } = terms;
    this.#sendsTreeShape = sendsTreeShape(agreed);
    const message = await this.#scheme.setUp({
      layout,
      instanceCount,
      run: runOf(agreed.job, jobId),
      nodesMax: nodesOfJob(agreed),
      outputsPerTree: outputsPerTree(agreed),
      greetings: sessions.map(({ greeting }) => greeting),
      rows,
      candidatesMax: Math.max(1, ...sessions.map(({ candidatesMax }) => candidatesMax)),
      masksSums: agreed.defences.hidden_sums,
    });
    await Promise.all(sessions.map((session) => session.setUp(message, skipBin)));
    await Promise.all(sessions.map((session) => this.#takeHints(session)));
    if (!agreed.defences.hidden_outcomes) return;
    for (const session of sessions)
      this.#transfers.set(session, new OutcomeTransfers(session.connection.peer, session.tally));
  }

  beginRound(round: RoundTerms): ActiveRound {
    return new HiddenRound(this.#scheme, round, this.#sendsTreeShape, this.#transfers);
  }

  /** Receives the hints that the party's answers are decrypted with. */
  async #takeHints({ connection, index, traits, tally }: PeerSession): Promise<void> {
    const { peer, options } = connection;
    const { candidateCount } = traits;
    let bytes = 0;
    async function* pieces(): AsyncGenerator<Uint8Array> {
      for await (const { scheme } of peer.hints({}, options)) {
        bytes += scheme.length;
        yield scheme;
      }
    }
    await connection.guard(this.#scheme.hints(index, candidateCount, pieces()));
    tally.see("hints", candidateCount, bytes);
  }
}

class HiddenRound implements ActiveRound {
  readonly opened: Promise<unknown>;
  readonly sharedRoot = null;
  readonly derivesAlways = true;
  readonly #scheme: HiddenActive;
  readonly #round: RoundTerms;
  readonly #sendsTreeShape: boolean;
  readonly #transfers: ReadonlyMap<PeerSession, OutcomeTransfers>;
  /** The first root's gradients are encrypted in advance: they depend on nothing else. */
  readonly #firstNode: Broadcast<GradientChunk> | null;

  constructor(
    scheme: HiddenActive,
    round: RoundTerms,
    withTreeShape: boolean,
    transfers: ReadonlyMap<PeerSession, OutcomeTransfers>,
  ) {
    this.#scheme = scheme;
    this.#round = round;
    this.#sendsTreeShape = withTreeShape;
    this.#transfers = transfers;
    const { sessions, firstTree, outputs, sample, gradients, before } = round;
    this.#firstNode =
      sessions.length === 0
        ? null
        : this.#seal(firstTree, rootId, outputs, sample ?? everyRow(gradients.instanceCount)).ahead();
    this.opened = before;
  }

  /** A node needs only its own gradients. If the round cannot begin, its error takes precedence. */
  async ask<T>(_session: number, question: () => Promise<T>): Promise<T> {
    const [answer] = await Promise.all([question(), this.opened]);
    return answer;
  }

  beginTree(tree: number, outputs: readonly number[]): TreeMembership {
    const { gradients } = this.#round;
    return {
      question: (asked) => this.#question(tree, outputs, asked),
      sumsCheck: () => new UncountedSums(gradients, outputs),
      addsUp: (node: NodeSums, leftMembers: Uint8Array, best: BestCandidate, draws: number) =>
        addsUpUncounted(node, leftMembers, best, gradients, draws, outputs),
      splits: (session, decisions) => this.#splits(session, tree, decisions),
    };
  }

  finishTree(tree: number): Promise<unknown> {
    this.#scheme.endTree(tree);
    return ignoreUnhandled(Promise.all(this.#round.sessions.map((session) => session.finishTree(tree))));
  }

  #question(tree: number, outputs: readonly number[], { node, pair }: AskedNode): NodeQuestion {
    const { firstTree, columnRate } = this.#round;
    const isFirst = tree === firstTree && node.id === rootId;
    const sealed = (isFirst ? this.#firstNode : null) ?? this.#seal(tree, node.id, outputs, node.sampled);
    const place =
      pair === null || !this.#sendsTreeShape
        ? null
        : { parent: pair.parent.id, sibling: (node === pair.left ? pair.right : pair.left).id };
    const { counts } = this.#scheme;
    return {
      messages: ({ tally }, open) => {
        const origin = place && { ...place, ...(open === undefined ? {} : { open }) };
        const first = isFirst ? { colsampleBytree: columnRate } : {};
        const chunks = sealed.reader();
        const isSendable = isFirst ? this.opened : Promise.resolve();
        return sealedMessages({ tree, node: node.id, origin, ...first }, chunks, isSendable, counts, tally);
      },
    };
  }

  #seal(tree: number, node: number, outputs: readonly number[], sampled: Uint32Array): Broadcast<GradientChunk> {
    const { gradients } = this.#round;
    return new Broadcast(this.#scheme.seal({ tree, node, outputs, sampled, gradients }), chunksAhead);
  }

  /** Passive parties answer for all instances: members of the node are selected here, or by oblivious transfer. */
  #splits(session: PeerSession, tree: number, decisions: readonly Decision[]): Promise<Map<number, SplitAnswer>> {
    const { instanceCount } = this.#round.gradients;
    const { peer, options } = session.connection;
    const transfers = this.#transfers.get(session);
    return session.splits(tree, decisions, {
      ask: (request) =>
        transfers === undefined
          ? peer.splits(request, options)
          : transfers.splits(request, decisions, instanceCount, options),
      bitsOf: () => instanceCount,
      read: (split, { instances }) => {
        const leftMembers = pickedBits(split.leftMembers, instances);
        const chosen = { instanceCount: instances.length, leftMembers };
        return {
          leftMembers,
          facts: transfers === undefined ? { instanceCount } : { transfers: instanceCount, chosen },
        };
      },
    });
  }
}
