/**
 * The nodes that a passive party has answered, where members are hidden. A node is answered once: a request that is
 * repeated, after a lost connection or a restart, must be the same bytes, and gets the same bytes. Another request is
 * refused, in this attempt and every later one. Otherwise an active party could drop its connection, send other
 * gradients for a node, and subtract: the same noise in two answers would cancel, and every answer uses up some of the
 * job's smudging.
 *
 * Two digests are stored before the first byte of an answer is sent, with the active party's signature of the request
 * and of what it was answered before: a tree that is broken off is evidence too. The answer itself is not stored: it
 * follows from the request and the seed of the job, and is compared with its digest. Of a request that is refused the
 * signature is kept as well.
 */
import { create, toBinary } from "@bufbuild/protobuf";
import { TandemError } from "../../base/error.ts";
import { Exclusive } from "../../base/scheduling/exclusive.ts";
import { PassiveHistogramsSchema } from "../../wire/generated/tandem/v1/tandem_pb.ts";
import { noBytes } from "../../messages/call.ts";
import { digests } from "../chain/digests.ts";
import type { SumsAnswer } from "../passive/histogram-answer.ts";
import type { SignedGradients } from "../passive/round-store.ts";
import { splitKey } from "../split-key.ts";

export interface AnsweredNode {
  readonly tree: number;
  readonly node: number;
  /** Digest of all messages that requested the node, in hex. */
  readonly request: string;
  /** Digest of all messages of the answer, in hex. */
  readonly answer: string;
  /** The active party's, base64. */
  readonly signature: string;
  /** The entries of the tree that it covers, base64; left out: those of the node that was stored before this one. */
  readonly entries?: string | undefined;
  /** Of roots in a job with noise: digest of the gradients, in hex. */
  readonly root?: string | undefined;
}

/** Stores the answered nodes of a job. */
export interface NodeJournal {
  /** All nodes of all attempts. */
  read(): Promise<readonly AnsweredNode[]>;
  /** Settles when the nodes are stored durably. */
  add(nodes: readonly AnsweredNode[]): Promise<void>;
}

type Request = SignedGradients & { readonly node: number; readonly root?: string | undefined };

export class AnsweredNodes {
  readonly #journal: NodeJournal | null;
  readonly #nodesPerTree: number;
  /** By tree and node: of the current round. */
  readonly #answered = new Map<string, AnsweredNode>();
  readonly #underWay = new Set<string>();
  readonly #writes = new Exclusive();
  /** They wait for the journal, which writes all at once. */
  #waiting: AnsweredNode[] = [];
  /** Of the node that was stored last in this attempt. */
  #entries: string | null = null;
  #isRead = false;
  /** The first tree of each root, by the digest of its gradients. */
  readonly #roots = new Map<string, number>();
  readonly #refuse: (other: SignedGradients, reason: string) => Promise<void>;
  /** One other request per node proves the deviation. */
  readonly #refused = new Set<string>();

  /**
   * @param nodesPerTree the maximum over all attempts
   * @param refuse called with a request that differs from the answered one
   */
  constructor(
    journal: NodeJournal | null,
    nodesPerTree: number,
    refuse: (other: SignedGradients, reason: string) => Promise<void>,
  ) {
    this.#journal = journal;
    this.#nodesPerTree = nodesPerTree;
    this.#refuse = refuse;
  }

  /** A round begins, for the first time or again: earlier ones are never redone. */
  async begin(firstTree: number): Promise<void> {
    for (const [key, { tree }] of this.#answered) if (tree < firstTree) this.#answered.delete(key);
    if (this.#isRead || this.#journal === null) return;
    for (const node of await this.#journal.read()) {
      if (node.root !== undefined) this.firstRoot(node.root, node.tree);
      if (node.tree >= firstTree) this.#remember(node);
    }
    this.#isRead = true;
  }

  /** Whether the node was answered in this attempt or before. */
  has(tree: number, node: number): boolean {
    return this.#answered.has(splitKey(tree, node));
  }

  /** The first tree of the job whose root has these gradients. @param tree in which they are requested */
  firstRoot(gradients: string, tree: number): number {
    const first = Math.min(tree, this.#roots.get(gradients) ?? tree);
    this.#roots.set(gradients, first);
    return first;
  }

  /** @param compute the same for the same request, in every attempt */
  async answer(request: Request, compute: () => Promise<readonly SumsAnswer[]>): Promise<readonly SumsAnswer[]> {
    const { tree, node } = request;
    const key = splitKey(tree, node);
    const known = this.#answered.get(key);
    const digest = Buffer.from(request.digest).toString("hex");
    if (known !== undefined && known.request !== digest) await this.#refuseOther(key, request);
    this.#checkCount(tree, key);
    this.#underWay.add(key);
    try {
      const messages = await compute();
      const answer = digestOf(messages);
      if (known === undefined) {
        const { signature, entries = noBytes, root } = request;
        await this.#keep({
          tree,
          node,
          request: digest,
          answer,
          signature: base64(signature),
          entries: base64(entries),
          root,
        });
      } else if (known.answer !== answer)
        throw new TandemError("CHECKPOINT", `the answer about node ${node} of tree ${tree} cannot be repeated`);
      return messages;
    } finally {
      this.#underWay.delete(key);
    }
  }

  /**
   * A tree that is redone ends with the requests of its first attempt: what it takes is counted once, at its end.
   * @param asked the nodes that were requested in this attempt
   * @throws TandemError PROTOCOL_STATE naming a node that was answered in an earlier attempt only
   */
  checkAllAsked(tree: number, asked: ReadonlySet<number>): void {
    for (const answered of this.#answered.values())
      if (answered.tree === tree && !asked.has(answered.node))
        throw new TandemError(
          "PROTOCOL_STATE",
          `tree ${tree} was grown differently before: node ${answered.node} was requested`,
        );
  }

  async #refuseOther(key: string, request: Request): Promise<never> {
    const reason = `node ${request.node} of tree ${request.tree} was requested with other gradients before`;
    if (!this.#refused.has(key)) {
      this.#refused.add(key);
      await this.#refuse(request, reason);
    }
    throw new TandemError("PROTOCOL_STATE", `${reason}. Begin anew under another name`);
  }

  /** The root and one of each pair, over all attempts: what the smudging noise of the job was made for. */
  #checkCount(tree: number, key: string): void {
    if (this.#underWay.has(key)) throw tooOften(key);
    if (this.#answered.has(key)) return;
    const ofTree = [...this.#answered.keys(), ...this.#underWay].filter((other) => other.startsWith(`${tree}/`));
    if (ofTree.length >= this.#nodesPerTree) throw tooOften(key);
  }

  /** Stores the node together with all others that wait. */
  async #keep(answered: AnsweredNode): Promise<void> {
    this.#waiting.push(answered);
    await this.#writes.run(async () => {
      if (!this.#waiting.includes(answered)) return; // stored with an earlier one
      const all = this.#waiting;
      this.#waiting = [];
      try {
        await this.#journal?.add(this.#lean(all));
      } catch (error) {
        this.#entries = null;
        this.#waiting.unshift(...all.filter((other) => other !== answered)); // they retry themselves
        throw error;
      }
      for (const one of all) this.#remember(one);
    });
  }

  /** Nodes of a level have the same entries, which are stored once. */
  #lean(nodes: readonly AnsweredNode[]): AnsweredNode[] {
    return nodes.map((node) => {
      const { entries = "", ...rest } = node;
      const isSame = entries === this.#entries;
      this.#entries = entries;
      return isSame ? rest : node;
    });
  }

  #remember(answered: AnsweredNode): void {
    this.#answered.set(splitKey(answered.tree, answered.node), answered);
  }
}

function digestOf(messages: readonly SumsAnswer[]): string {
  const encoded = messages.map((message) =>
    digests.bytes(toBinary(PassiveHistogramsSchema, create(PassiveHistogramsSchema, message))),
  );
  return Buffer.from(digests.bytes(...encoded)).toString("hex");
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}

function tooOften(key: string): TandemError {
  const [tree, node] = key.split("/");
  return new TandemError("PROTOCOL_STATE", `node ${node} of tree ${tree} is asked for too often`);
}
