/**
 * The active party's side where members are sent: gradients of a round are encrypted once, and each node's request
 * contains its members.
 *
 * @reveals passive: which instances are in each node that is split; which instances are sampled for each tree
 */
import { create } from "@bufbuild/protobuf";
import { maskBitsIn } from "../../codec/layout.ts";
import { ignoreUnhandled } from "../../base/scheduling/ignore-unhandled.ts";
import type { BestCandidate } from "../../scheme/candidates/best-candidates.ts";
import type { CandidateRows } from "../../scheme/candidates/candidate-rows.ts";
import type { GradientChunk } from "../../scheme/scheme.ts";
import type { SentActive } from "../../scheme/sent-scheme.ts";
import { bitmapFrom, rowBitmap } from "../../wire/bitmap.ts";
import { type ActiveGradients, type ActiveNode, ActiveNodeSchema } from "../../wire/generated/tandem/v1/tandem_pb.ts";
import { Broadcast, chunksAhead } from "../active/broadcast.ts";
import type { BusyClock } from "../active/busy-clock.ts";
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
import { plaintextDigest, type PlaintextJournal } from "../active/plaintext-journal.ts";
import type { Decision, SplitAnswer } from "../active/split-decision.ts";
import { addsUpUncounted } from "../active/uncounted-member-sums.ts";
import { UncountedSums } from "../active/uncounted-sums.ts";
import { BelievableSums } from "./active-believable-sums.ts";
import { addsUp } from "./active-member-sums.ts";

const noBytes = new Uint8Array(0);
const laterChunk = { sampled: noBytes, colsampleBytree: 0 };
const noChunk = { scheme: noBytes, bases: noBytes };

export class SentMembership implements ActiveMembership {
  readonly #scheme: SentActive;
  readonly #journal: PlaintextJournal;

  constructor(scheme: SentActive, journal: PlaintextJournal) {
    this.#scheme = scheme;
    this.#journal = journal;
  }

  async setUp({ layout, skipBin }: SetUpTerms, sessions: readonly PeerSession[]): Promise<void> {
    const message = await this.#scheme.setUp({ layout });
    await Promise.all(sessions.map((session) => session.setUp(message, skipBin)));
  }

  beginRound(round: RoundTerms): ActiveRound {
    return new SentRound(this.#scheme, this.#journal, round);
  }
}

class SentRound implements ActiveRound {
  readonly opened: Promise<readonly Promise<void>[]>;
  readonly sharedRoot: CandidateRows[] | null;
  readonly derivesAlways = false;
  readonly #scheme: SentActive;
  readonly #journal: PlaintextJournal;
  readonly #round: RoundTerms;
  /** Settles per session when the party has received all gradients. */
  readonly #taken: readonly Promise<void>[];

  constructor(scheme: SentActive, journal: PlaintextJournal, round: RoundTerms) {
    this.#scheme = scheme;
    this.#journal = journal;
    this.#round = round;
    this.sharedRoot = round.offersSameRoot ? [] : null;
    const opened = ignoreUnhandled(round.before.then(() => this.#sendGradients()));
    this.opened = opened;
    this.#taken = round.sessions.map((_, i) => ignoreUnhandled(opened.then((taken) => taken[i])));
  }

  async ask<T>(session: number, question: () => Promise<T>): Promise<T> {
    await this.#taken[session];
    return question();
  }

  beginTree(tree: number, outputs: readonly number[]): TreeMembership {
    const { gradients, sample, layout } = this.#round;
    const isUncounted = maskBitsIn(layout) > 0;
    return {
      question: (asked) => nodeQuestion(tree, asked),
      sumsCheck: () => (isUncounted ? new UncountedSums(gradients, outputs) : new BelievableSums(gradients, sample)),
      addsUp: (node: NodeSums, leftMembers: Uint8Array, best: BestCandidate, draws: number) =>
        isUncounted
          ? addsUpUncounted(node, leftMembers, best, gradients, draws, outputs)
          : addsUp(node, leftMembers, best, gradients, draws),
      splits: (session, decisions) => splits(session, tree, decisions),
    };
  }

  finishTree(tree: number): Promise<unknown> {
    return ignoreUnhandled(Promise.all(this.#round.sessions.map((session) => session.finishTree(tree))));
  }

  async #sendGradients(): Promise<readonly Promise<void>[]> {
    const { firstTree, treeCount, sessions, layout, gradients, sample, moreFollow, encrypting } = this.#round;
    const serial = sessions.length === 0 ? 0 : await this.#enter();
    const made = timed(this.#scheme.gradients(layout, gradients, sample, serial), encrypting);
    const chunks = new Broadcast(made, chunksAhead);
    const readers = sessions.map(() => chunks.reader());
    const sampled = rowBitmap(sample, gradients.instanceCount);
    const taken = sessions.map((session, i) => this.#sendTo(session, sampled, readers[i]));
    if (taken.length > 0 && moreFollow) {
      const [count, next] = [sample?.length ?? gradients.instanceCount, firstTree + treeCount];
      const expect = (): void => this.#scheme.expectRound?.(layout, count, next);
      void Promise.allSettled(taken).then(expect);
    }
    return taken;
  }

  /** Rounds are encrypted under the number of their first tree, or of the first round with the same plaintexts. */
  async #enter(): Promise<number> {
    const { firstTree: tree, layout, gradients, sample } = this.#round;
    const plaintexts = plaintextDigest(layout, gradients, sample);
    const { serial, stored } = this.#journal.enter({ tree, node: null }, plaintexts, tree);
    await stored;
    return serial;
  }

  /** @param sampled bitmap of the instances that the round is trained on; empty: all */
  async #sendTo(session: PeerSession, sampled: Uint8Array, chunks: AsyncIterable<GradientChunk>): Promise<void> {
    const { firstTree: tree, columnRate } = this.#round;
    const { counts } = this.#scheme;
    const { connection } = session;
    const { peer, tally, options } = connection;
    async function* messages(): AsyncGenerator<Omit<ActiveGradients, "$typeName" | "$unknown" | "signature">> {
      let sequence = 0;
      for await (const { message, ciphertexts, isOfBases = false } of chunks) {
        const first = sequence === 0 ? { sampled, colsampleBytree: columnRate } : laterChunk;
        const fields = isOfBases ? { ...noChunk, bases: message } : { ...noChunk, scheme: message };
        const chunk = { tree, sequence, ...fields, ...first, last: false };
        sequence++;
        counts.gradientCiphertexts += ciphertexts;
        tally.see("gradients", chunk, ciphertexts);
        yield chunk;
      }
      yield { tree, sequence, ...noChunk, ...laterChunk, last: true };
    }
    session.edge("send", tree, true);
    await connection.guard(peer.gradients(messages(), options));
    session.edge("send", tree, false);
  }
}

function nodeQuestion(tree: number, asked: AskedNode): NodeQuestion {
  const { id: node, instances } = asked.node;
  const origin = originOf(asked);
  return {
    async *messages({ tally }, open): AsyncGenerator<ActiveNode> {
      tally.see("members", { tree, node, scheme: new Uint8Array(0) }, origin, instances.length);
      const groups = open === undefined ? {} : { open };
      const members = origin === null ? { isRoot: true } : { ...origin, ...groups };
      yield create(ActiveNodeSchema, { tree, node, members });
    },
  };
}

/** The members of a node, as a bitmap over its parent's instances; null for the root. */
function originOf({ node, pair }: AskedNode) {
  if (pair === null) return null;
  const { parent, left, right } = pair;
  const sibling = node === left ? right : left;
  // Both list their instances in the same order.
  let next = 0;
  const members = bitmapFrom(parent.instances.length, (i) => {
    const isMember = parent.instances[i] === node.instances[next];
    if (isMember) next++;
    return isMember;
  });
  return { parent: parent.id, sibling: sibling.id, members };
}

function splits(session: PeerSession, tree: number, decisions: readonly Decision[]): Promise<Map<number, SplitAnswer>> {
  const { peer, options } = session.connection;
  return session.splits(tree, decisions, {
    ask: (request) => peer.splits(request, options),
    bitsOf: ({ instances }) => instances.length,
    read: ({ leftMembers }, { instances }) => ({ leftMembers, facts: { instanceCount: instances.length } }),
  });
}

/** Measures the time spent on producing chunks. */
async function* timed(chunks: AsyncIterable<GradientChunk>, clock: BusyClock): AsyncGenerator<GradientChunk> {
  const iterator = chunks[Symbol.asyncIterator]();
  for (;;) {
    const { done, value } = await clock.during(() => iterator.next());
    if (done === true) return;
    yield value;
  }
}
