/**
 * A passive party with a chain of digests around it: every message of a tree is noted as it is sent or comes, and at
 * the end of the tree both sides sign. The role behind it knows nothing of this.
 */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { TandemError } from "../../base/error.ts";
import {
  type ActiveGradientsSchema,
  type ActiveHiddenSplitsSchema,
  type ActiveNodeSchema,
  ActiveSetUpSchema,
  ActiveSplitDecisionSchema,
  type ActiveSplitDecisionsSchema,
  type PassiveHello,
  PassiveReadySchema,
  PassiveSplitSchema,
} from "../../wire/generated/tandem/v1/tandem_pb.ts";
import type { CallOptions, PassivePeer } from "../../wire/peer.ts";
import { protocolVersion } from "../../wire/version.ts";
import { isSame } from "../chain/entries.ts";
import {
  AnswerDigest,
  ChoicesDigest,
  digestOf,
  encoded,
  GradientDigest,
  messageDigest,
  NodeDigest,
  OrderDigests,
  roundDigest,
  termsDigest,
} from "../chain/message-digests.ts";
import type { PairChain } from "../chain/pair-chain.ts";
import type { ActivePairRecord, OpenChain } from "../chain/record.ts";

export function chainedPeer(peer: PassivePeer, record: ActivePairRecord): PassivePeer {
  const chained = new ChainedPeer(peer, record);
  return {
    ...peer,
    join: (hello, options) => chained.join(hello, options),
    setUp: (setUp, options) => chained.setUp(setUp, options),
    gradients: (chunks, options) => chained.gradients(chunks, options),
    histograms: (nodes, options) => chained.histograms(nodes, options),
    order: (request, options) => chained.order(request, options),
    splits: (decisions, options) => chained.splits(decisions, options),
    hiddenSplits: (messages, options) => chained.hiddenSplits(messages, options),
    finishTree: (finished, options) => chained.finishTree(finished, options),
  };
}

class ChainedPeer {
  readonly #peer: PassivePeer;
  readonly #record: ActivePairRecord;
  #open: OpenChain | null = null;

  constructor(peer: PassivePeer, record: ActivePairRecord) {
    this.#peer = peer;
    this.#record = record;
  }

  get #chain(): PairChain {
    return this.#opened.chain;
  }

  get #opened(): OpenChain {
    if (this.#open === null) throw new TandemError("PROTOCOL_STATE", "the party has not joined");
    return this.#open;
  }

  async *join(hello: Parameters<PassivePeer["join"]>[0], options: CallOptions): AsyncGenerator<PassiveHello> {
    for await (const answer of this.#peer.join({ ...hello, ...this.#record.own }, options)) {
      // What speaks another version is refused for that.
      if (answer.protocolVersion === protocolVersion && this.#open === null) {
        this.#open = this.#record.joined(answer);
        this.#chain.noteFixed("terms", termsDigest(hello));
      }
      yield answer;
    }
  }

  async setUp(setUp: Parameters<PassivePeer["setUp"]>[0], options: CallOptions): ReturnType<PassivePeer["setUp"]> {
    const message = encoded(ActiveSetUpSchema, setUp);
    const ready = await this.#peer.setUp(setUp, options);
    this.#record.setUp(message);
    this.#chain.noteFixed("set-up", digestOf(message));
    this.#chain.noteFixed("ready", messageDigest(PassiveReadySchema, ready));
    return ready;
  }

  async gradients(
    chunks: Parameters<PassivePeer["gradients"]>[0],
    options: CallOptions,
  ): ReturnType<PassivePeer["gradients"]> {
    const chain = this.#chain;
    async function* noted(): AsyncGenerator<MessageInitShape<typeof ActiveGradientsSchema>> {
      const gradients = new GradientDigest();
      let tree = chain.tree;
      for await (const chunk of chunks) {
        const { sequence = 0, scheme = new Uint8Array(0) } = chunk;
        tree = chunk.tree ?? 0;
        if (sequence === 0) chain.note(tree, "sample", 0, roundDigest(chunk));
        gradients.add(scheme);
        yield chunk;
      }
      chain.note(tree, "gradients", 0, gradients.digest());
    }
    return this.#peer.gradients(noted(), options);
  }

  async *histograms(
    nodes: Parameters<PassivePeer["histograms"]>[0],
    options: CallOptions,
  ): ReturnType<PassivePeer["histograms"]> & AsyncGenerator {
    const chain = this.#chain;
    const asked = new Map<
      number,
      { readonly tree: number; readonly request: Uint8Array; readonly digest: AnswerDigest; pieces: Uint8Array[] }
    >();
    async function* noted(): AsyncGenerator<MessageInitShape<typeof ActiveNodeSchema>> {
      let digest = new NodeDigest();
      for await (const request of nodes) {
        const { tree = 0, node = 0, more = false } = request;
        digest.add(request);
        if (!more) {
          asked.set(node, { tree, request: digest.digest(), digest: new AnswerDigest(), pieces: [] });
          digest = new NodeDigest();
        }
        yield request;
      }
    }
    for await (const piece of this.#peer.histograms(noted(), options)) {
      const { digest, pieces } = asked.get(piece.node) ?? {};
      digest?.add(piece);
      pieces?.push(piece.scheme);
      yield piece;
    }
    // Here and not before: a round's first node may be asked for while the last tree is being stored.
    for (const [node, { tree, request, digest, pieces }] of asked) {
      const { answer, sums } = digest.digests();
      chain.note(tree, "members", node, request);
      chain.note(tree, "answer", node, answer);
      chain.note(tree, "sums", node, sums);
      this.#record.answered(tree, node, pieces);
    }
  }

  async *order(
    request: Parameters<PassivePeer["order"]>[0],
    options: CallOptions,
  ): ReturnType<PassivePeer["order"]> & AsyncGenerator {
    const orders = new OrderDigests();
    for await (const piece of this.#peer.order(request, options)) {
      orders.add(piece);
      yield piece;
    }
    for (const [node, digest] of orders.digests()) this.#chain.note(request.tree ?? 0, "order", node, digest);
  }

  async *splits(
    request: Parameters<PassivePeer["splits"]>[0],
    options: CallOptions,
  ): ReturnType<PassivePeer["splits"]> & AsyncGenerator {
    const { tree = 0, decisions = [] } = request;
    for (const decision of decisions)
      this.#chain.note(tree, "decision", decision.node ?? 0, messageDigest(ActiveSplitDecisionSchema, decision));
    for await (const split of this.#peer.splits(request, options)) {
      this.#chain.note(tree, "outcome", split.node, messageDigest(PassiveSplitSchema, split));
      yield split;
    }
  }

  async *hiddenSplits(
    messages: Parameters<PassivePeer["hiddenSplits"]>[0],
    options: CallOptions,
  ): ReturnType<PassivePeer["hiddenSplits"]> & AsyncGenerator {
    const chain = this.#chain;
    async function* noted(): AsyncGenerator<MessageInitShape<typeof ActiveHiddenSplitsSchema>> {
      const choices = new ChoicesDigest();
      let request: MessageInitShape<typeof ActiveSplitDecisionsSchema> = {};
      for await (const message of messages) {
        request = message.request ?? request;
        for (const decision of message.request?.decisions ?? [])
          chain.note(
            request.tree ?? 0,
            "decision",
            decision.node ?? 0,
            messageDigest(ActiveSplitDecisionSchema, decision),
          );
        choices.add(message);
        yield message;
      }
      chain.note(request.tree ?? 0, "choices", request.decisions?.[0]?.node ?? 0, choices.digest());
    }
    for await (const split of this.#peer.hiddenSplits(noted(), options)) {
      chain.note(split.tree, "outcome", split.node, messageDigest(PassiveSplitSchema, split));
      yield split;
    }
  }

  async finishTree(
    finished: Parameters<PassivePeer["finishTree"]>[0],
    options: CallOptions,
  ): ReturnType<PassivePeer["finishTree"]> {
    const { chain, sign, verify } = this.#opened;
    const closed = chain.closing();
    const own = sign(closed);
    const { link: digest, entries } = closed;
    const stored = await this.#peer.finishTree({ ...finished, digest, signature: own, entries }, options);
    if (!isSame(stored.digest, digest))
      throw new TandemError("PROTOCOL_STATE", `party ${this.#peer.name} has another digest of tree ${closed.tree}`);
    verify(closed, stored.signature);
    this.#record.closed({ ...closed, own, theirs: stored.signature });
    chain.advance(closed);
    return stored;
  }
}
