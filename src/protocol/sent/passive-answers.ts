/**
 * A passive party's answers for the nodes of a round. A node is answered once: a request that is repeated, after a lost
 * connection, after a restart or at the same time, gets the same bytes. Otherwise an active party could drop its
 * connection, request other members, and subtract: minimums would protect no instance. Other gradients are refused
 * before (received-gradients.ts).
 *
 * An answer is stored before its first byte is sent. Without a store it is computed again within the attempt, from the
 * same gradients, and there is no other attempt.
 */
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { TandemError } from "../../base/error.ts";
import { Exclusive } from "../../base/scheduling/exclusive.ts";
import { PassiveHistogramsSchema } from "../../wire/generated/tandem/v1/tandem_pb.ts";
import { splitKey, treeOfKey } from "../split-key.ts";
import type { SumsAnswer } from "../passive/histogram-answer.ts";
import type { NodeSplit, RoundStore, StoredAnswer } from "../passive/round-store.ts";

type Answer = readonly SumsAnswer[];

/** Parts are read as a whole, so their size is limited to about this. */
const partBytesMax = 16 << 20;

interface Place {
  readonly part: number;
  readonly index: number;
}

export class AnswerStore {
  readonly #store: RoundStore | null;
  readonly #writes = new Exclusive();
  #round = -1;
  /** The part of the next answer, and the number and size of the answers in it. */
  #next: Place = { part: 0, index: 0 };
  #partBytes = 0;
  /** Position of the answer in the store, by tree and node. */
  readonly #places = new Map<string, Place>();
  /** How nodes with answered children were split, by tree and parent. */
  readonly #splits = new Map<number, Map<number, NodeSplit>>();
  /** Nodes that were requested since the round began in this attempt. */
  readonly #asked = new Set<string>();
  /** Nodes whose sibling was answered. */
  readonly #siblings = new Set<string>();
  /** Answers that are being computed or stored. */
  readonly #underWay = new Map<string, Promise<Answer>>();
  /** Answers that wait for the store, which writes all at once. */
  readonly #waiting: StoredAnswer[] = [];
  /** The part that was read last. */
  #read: { readonly part: number; readonly answers: readonly StoredAnswer[] } | null = null;

  constructor(store: RoundStore | null) {
    this.#store = store;
  }

  /** A round begins, for the first time or again: loads its earlier answers. */
  async begin(round: number): Promise<void> {
    this.#round = round;
    this.#next = { part: 0, index: 0 };
    this.#partBytes = 0;
    this.#places.clear();
    this.#splits.clear();
    this.#siblings.clear();
    this.#asked.clear();
    this.#read = null;
    for (let part = 0; this.#store !== null; part++) {
      const answers = await this.#store.readAnswers(round, part);
      if (answers === null) return;
      if (part > 0) this.#nextPart();
      for (const answer of answers) this.#remember(answer);
    }
  }

  /** How nodes of a tree were split, by parent, if their children were answered in this attempt or before. */
  splits(tree: number): ReadonlyMap<number, NodeSplit> {
    return this.#splits.get(tree) ?? new Map<number, NodeSplit>();
  }

  /** Whether this node itself was requested, in this attempt or before. */
  has(tree: number, node: number): boolean {
    const key = splitKey(tree, node);
    return this.#places.has(key) || this.#underWay.has(key);
  }

  /** Whether the active party knows the candidates of a node: it or its sibling was requested. */
  isAnswered(tree: number, node: number): boolean {
    const key = splitKey(tree, node);
    return this.#places.has(key) || this.#siblings.has(key);
  }

  /** The answer for a node whose members were checked to be unchanged. @param compute called the first time */
  answer(question: Omit<StoredAnswer, "messages">, compute: () => Promise<Answer>): Promise<Answer> {
    const key = splitKey(question.tree, question.node);
    this.#asked.add(key);
    const underWay = this.#underWay.get(key);
    if (underWay !== undefined) return underWay;
    const place = this.#places.get(key);
    const answer =
      place === undefined || this.#store === null ? this.#respond(question, compute) : this.#again(place, question);
    this.#underWay.set(key, answer);
    const ended = (): void => void this.#underWay.delete(key);
    answer.then(ended, ended);
    return answer;
  }

  /**
   * A tree that is redone ends with the requests of its first attempt: what it takes is counted once, at its end.
   * @throws TandemError PROTOCOL_STATE naming a node that was answered in an earlier attempt only
   */
  checkAllAsked(tree: number): void {
    const forgotten = [...this.#places.keys()].find((key) => treeOfKey(key) === tree && !this.#asked.has(key));
    if (forgotten !== undefined)
      throw new TandemError(
        "PROTOCOL_STATE",
        `tree ${tree} was grown differently before: node ${forgotten.slice(forgotten.indexOf("/") + 1)} was requested`,
      );
  }

  /** Settles when no answer is being computed or stored. */
  async idle(): Promise<void> {
    await Promise.allSettled(this.#underWay.values());
  }

  async #respond(question: Omit<StoredAnswer, "messages">, compute: () => Promise<Answer>): Promise<Answer> {
    const answer = await compute();
    const encoded = (message: SumsAnswer): Uint8Array =>
      toBinary(PassiveHistogramsSchema, create(PassiveHistogramsSchema, message));
    await this.#keep({ ...question, messages: this.#store === null ? [] : answer.map(encoded) });
    return answer;
  }

  /** Stores the answer together with all others that wait. */
  async #keep(answer: StoredAnswer): Promise<void> {
    this.#waiting.push(answer);
    await this.#writes.run(async () => {
      if (!this.#waiting.includes(answer)) return; // stored with an earlier one
      const all = this.#waiting.splice(0);
      if (this.#partBytes > partBytesMax) this.#nextPart();
      try {
        await this.#store?.addAnswers(this.#round, this.#next.part, all);
      } catch (error) {
        this.#waiting.unshift(...all.filter((other) => other !== answer)); // they retry themselves
        throw error;
      }
      for (const one of all) this.#remember(one);
    });
  }

  async #again({ part, index }: Place, { tree, node }: Omit<StoredAnswer, "messages">): Promise<Answer> {
    if (this.#read?.part !== part || this.#read.answers.length <= index)
      this.#read = { part, answers: (await this.#store?.readAnswers(this.#round, part)) ?? [] };
    const stored = this.#read.answers[index] as StoredAnswer | undefined;
    if (stored?.tree !== tree || stored.node !== node)
      throw new TandemError("CHECKPOINT", "the answers of this round are no longer stored");
    return stored.messages.map((message) => fromBinary(PassiveHistogramsSchema, message));
  }

  #remember({ tree, node, parting, messages }: StoredAnswer): void {
    const { part, index } = this.#next;
    this.#places.set(splitKey(tree, node), this.#next);
    this.#next = { part, index: index + 1 };
    this.#partBytes += messages.reduce((sum, message) => sum + message.length, 0);
    if (parting === null) return;
    this.#siblings.add(splitKey(tree, parting.sibling));
    const ofTree = this.#splits.get(tree) ?? new Map<number, NodeSplit>();
    if (!ofTree.has(parting.parent)) ofTree.set(parting.parent, parting);
    this.#splits.set(tree, ofTree);
  }

  #nextPart(): void {
    this.#next = { part: this.#next.part + 1, index: 0 };
    this.#partBytes = 0;
  }
}
