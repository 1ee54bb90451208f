/**
 * A passive role with a chain of digests around it: what comes and what is answered is noted, and a tree is finished
 * only if the active party has signed the same messages. The role inside knows nothing of this.
 */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { TandemError } from "../../base/error.ts";
import { Exclusive } from "../../base/scheduling/exclusive.ts";
import {
  type ActiveGradients,
  type ActiveHello,
  type ActiveHiddenSplits,
  type ActiveNode,
  type ActiveOrder,
  type ActiveSetUp,
  ActiveSetUpSchema,
  type ActiveSplitDecisions,
  ActiveSplitDecisionSchema,
  type ActiveTreeFinished,
  type PassiveHelloSchema,
  type PassiveHistogramsSchema,
  type PassiveOrderSchema,
  PassiveReadySchema,
  PassiveSplitSchema,
  type PassiveTreeStoredSchema,
} from "../../wire/generated/tandem/v1/tandem_pb.ts";
import { protocolVersion } from "../../wire/version.ts";
import {
  AnswerDigest,
  ChoicesDigest,
  GradientDigest,
  messageDigest,
  NodeDigest,
  OrderDigests,
  roundDigest,
  termsDigest,
} from "../chain/message-digests.ts";
import type { OpenChain, PassivePairRecord } from "../chain/record.ts";
import type { PassiveRole } from "./role.ts";

/** The calls of a role that belong to trees. */
type TreeCalls = Pick<
  PassiveRole,
  "join" | "setUp" | "gradients" | "histograms" | "order" | "splits" | "hiddenSplits" | "finishTree"
>;

/** Everything else goes to the role as it is. */
export function chainedRole<Role extends TreeCalls>(role: Role, record: PassivePairRecord): Role {
  const chained = new ChainedRole(role, record);
  const own: Readonly<Record<string, unknown>> = {
    join: (hello: ActiveHello) => chained.join(hello),
    setUp: (setUp: ActiveSetUp) => chained.setUp(setUp),
    gradients: (chunks: AsyncIterable<ActiveGradients>) => chained.gradients(chunks),
    histograms: (nodes: AsyncIterable<ActiveNode>) => chained.histograms(nodes),
    order: (request: ActiveOrder) => chained.order(request),
    splits: (request: ActiveSplitDecisions) => chained.splits(request),
    hiddenSplits: (messages: AsyncIterable<ActiveHiddenSplits>) => chained.hiddenSplits(messages),
    finishTree: (finished: ActiveTreeFinished) => chained.finishTree(finished),
  };
  return new Proxy(role, {
    get(target, name) {
      if (typeof name === "string" && Object.hasOwn(own, name)) return own[name];
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}

class ChainedRole {
  readonly #role: TreeCalls;
  readonly #record: PassivePairRecord;
  readonly #turns = new Exclusive();
  /** What was said at the end of each tree of this attempt: the same again if it is asked again. */
  readonly #said = new Map<number, MessageInitShape<typeof PassiveTreeStoredSchema>>();
  #open: OpenChain | null = null;
  #isSetUp = false;
  /** Which copy of a round's gradients the role takes: the first that begins. */
  #taking: { readonly tree: number; readonly copy: object } | null = null;

  constructor(role: TreeCalls, record: PassivePairRecord) {
    this.#role = role;
    this.#record = record;
  }

  get #opened(): OpenChain {
    if (this.#open === null) throw new TandemError("PROTOCOL_STATE", "nobody has joined");
    return this.#open;
  }

  join(hello: ActiveHello): MessageInitShape<typeof PassiveHelloSchema> {
    // What speaks another version is refused for that.
    if (hello.protocolVersion === protocolVersion && this.#open === null) {
      this.#open = this.#record.joined(hello);
      this.#open.chain.noteFixed("terms", termsDigest(hello));
    }
    return { ...this.#role.join(hello), ...this.#record.own };
  }

  async setUp(setUp: ActiveSetUp): Promise<MessageInitShape<typeof PassiveReadySchema>> {
    const ready = await this.#role.setUp(setUp);
    if (this.#isSetUp) return ready;
    this.#isSetUp = true;
    this.#opened.chain.noteFixed("set-up", messageDigest(ActiveSetUpSchema, setUp));
    this.#opened.chain.noteFixed("ready", messageDigest(PassiveReadySchema, ready));
    return ready;
  }

  async gradients(chunks: AsyncIterable<ActiveGradients>): Promise<void> {
    const copy = {};
    const digest = new GradientDigest();
    let first: ActiveGradients | null = null;
    const take = (chunk: ActiveGradients): void => {
      first ??= chunk;
      if (first.tree !== this.#opened.chain.tree) return; // a late copy, which the role refuses
      if (this.#taking?.tree !== first.tree) this.#taking = { tree: first.tree, copy };
      if (this.#taking.copy === copy) digest.add(chunk.scheme);
    };
    async function* noted(): AsyncGenerator<ActiveGradients> {
      for await (const chunk of chunks) {
        take(chunk);
        yield chunk;
      }
    }
    try {
      await this.#role.gradients(noted());
      this.#noteGradients(first, copy, digest);
    } catch (error) {
      if (this.#taking?.copy === copy) this.#taking = null;
      throw error;
    }
  }

  #noteGradients(first: ActiveGradients | null, copy: object, digest: GradientDigest): void {
    if (first === null || this.#taking?.copy !== copy) return;
    const { chain } = this.#opened;
    chain.note(first.tree, "sample", 0, roundDigest(first));
    chain.note(first.tree, "gradients", 0, digest.digest());
  }

  async *histograms(
    nodes: AsyncIterable<ActiveNode>,
  ): AsyncGenerator<MessageInitShape<typeof PassiveHistogramsSchema>> {
    const { chain } = this.#opened;
    const asked = new Map<number, { tree: number; request: Uint8Array; readonly digest: AnswerDigest }>();
    async function* noted(): AsyncGenerator<ActiveNode> {
      let digest = new NodeDigest();
      for await (const request of nodes) {
        digest.add(request);
        if (!request.more) {
          asked.set(request.node, { tree: request.tree, request: digest.digest(), digest: new AnswerDigest() });
          digest = new NodeDigest();
        }
        yield request;
      }
    }
    for await (const piece of this.#role.histograms(noted())) {
      asked.get(piece.node ?? 0)?.digest.add(piece);
      yield piece;
    }
    for (const [node, { tree, request, digest }] of asked) {
      const { answer, sums } = digest.digests();
      chain.note(tree, "members", node, request);
      chain.note(tree, "answer", node, answer);
      chain.note(tree, "sums", node, sums);
    }
  }

  async *order(request: ActiveOrder): AsyncGenerator<MessageInitShape<typeof PassiveOrderSchema>> {
    const { chain } = this.#opened;
    const orders = new OrderDigests();
    for await (const piece of this.#role.order(request)) {
      orders.add(piece);
      yield piece;
    }
    for (const [node, digest] of orders.digests()) chain.note(request.tree, "order", node, digest);
  }

  async *splits(request: ActiveSplitDecisions): AsyncGenerator<MessageInitShape<typeof PassiveSplitSchema>> {
    const { chain } = this.#opened;
    let isAccepted = false;
    for await (const split of this.#role.splits(request)) {
      if (!isAccepted)
        for (const decision of request.decisions)
          chain.note(request.tree, "decision", decision.node, messageDigest(ActiveSplitDecisionSchema, decision));
      isAccepted = true;
      chain.note(request.tree, "outcome", split.node ?? 0, messageDigest(PassiveSplitSchema, split));
      yield split;
    }
  }

  async *hiddenSplits(
    messages: AsyncIterable<ActiveHiddenSplits>,
  ): AsyncGenerator<MessageInitShape<typeof PassiveSplitSchema>> {
    const { chain } = this.#opened;
    const choices = new ChoicesDigest();
    const requests: ActiveSplitDecisions[] = [];
    async function* noted(): AsyncGenerator<ActiveHiddenSplits> {
      for await (const message of messages) {
        if (message.request !== undefined) requests.push(message.request);
        choices.add(message);
        yield message;
      }
    }
    for await (const split of this.#role.hiddenSplits(noted())) {
      chain.note(split.tree ?? 0, "outcome", split.node ?? 0, messageDigest(PassiveSplitSchema, split));
      yield split;
    }
    // All of them are accepted here.
    for (const { tree, decisions } of requests) {
      for (const decision of decisions)
        chain.note(tree, "decision", decision.node, messageDigest(ActiveSplitDecisionSchema, decision));
      chain.note(tree, "choices", decisions[0]?.node ?? 0, choices.digest());
    }
  }

  /** Signed and stored before the role stores its splits: whatever trees it has, it has their links. */
  finishTree(finished: ActiveTreeFinished): Promise<MessageInitShape<typeof PassiveTreeStoredSchema>> {
    return this.#turns.run(async () => {
      const { chain, sign, verify } = this.#opened;
      const said = this.#said.get(finished.tree);
      if (said !== undefined) {
        await this.#role.finishTree(finished);
        return said;
      }
      const closed = chain.agree({ tree: finished.tree, entries: finished.entries, link: finished.digest });
      verify(closed, finished.signature);
      const own = sign(closed);
      await this.#record.closed({ ...closed, own, theirs: finished.signature });
      await this.#role.finishTree(finished);
      chain.advance(closed);
      const stored = { digest: closed.link, signature: own };
      this.#said.set(closed.tree, stored);
      return stored;
    });
  }
}
