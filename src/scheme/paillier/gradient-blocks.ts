/** A round's encrypted gradients at a passive party, distributed over its blocks, and their sums per bin. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { assert } from "../../base/assert.ts";
import type { PublicEvaluator } from "../../crypto/paillier/kernel.ts";
import { CiphertextVector, type ResidentVector } from "../../crypto/paillier/vectors.ts";
import { PaillierBlockEntrySchema, PaillierBlockQuestionSchema } from "../../wire/generated/tandem/v1/blocks_pb.ts";
import { encodeMessage } from "../../wire/scheme-message.ts";
import { type Answer, type Entry, nothing } from "../blocks/block.ts";
import { blockParts } from "../blocks/block-bounds.ts";
import type { Blocks } from "../blocks/crew.ts";
import type { SentTask } from "../candidates/node-task.ts";
import type { SentNodes } from "../candidates/sent-nodes.ts";
import { HeldBins } from "./block.ts";

type Question = NonNullable<MessageInitShape<typeof PaillierBlockQuestionSchema>["kind"]>;

const isLoading = encodeMessage(PaillierBlockEntrySchema, { kind: { case: "gradients", value: {} } });

export class GradientBlocks {
  readonly #blocks: Blocks;
  readonly #evaluator: PublicEvaluator;
  /** Bytes of an instance's ciphertexts. */
  readonly #instanceBytes: number;
  /** The position of each block's first sampled instance, followed by the number of sampled instances. */
  #firsts: Uint32Array;
  /** The last entry, while it is being sent. */
  #sent: Promise<void> = Promise.resolve();

  constructor(blocks: Blocks, evaluator: PublicEvaluator, ciphertextsPerInstance: number) {
    this.#blocks = blocks;
    this.#evaluator = evaluator;
    this.#instanceBytes = ciphertextsPerInstance * evaluator.key.ciphertextBytes;
    this.#firsts = blocks.bounds;
  }

  get isElsewhere(): boolean {
    return this.#blocks.isElsewhere;
  }

  beginRound(tree: SentNodes): void {
    const { bounds } = this.#blocks;
    this.#firsts = bounds.map((first) => tree.sample.before(first));
    const root = rootOf(tree);
    this.#sent = this.#blocks.begin().then(() =>
      this.#sendAll((block) => {
        const sampled = tree.sample.bitmap(bounds[block], bounds[block + 1]);
        return { kind: { case: "round", value: { sampled, root } } };
      }),
    );
    this.#sent.catch(() => {}); // the next call rethrows it
  }

  nextTree(tree: SentNodes): void {
    const root = rootOf(tree);
    this.#sent = this.#sent.then(() => this.#sendAll(() => ({ kind: { case: "tree", value: root } })));
    this.#sent.catch(() => {});
  }

  /** Ciphertexts of consecutive sampled instances. */
  async load(first: number, ciphertexts: Uint8Array): Promise<void> {
    await this.#sent;
    const size = this.#instanceBytes;
    for (const { block, from, to } of blockParts(this.#firsts, first, ciphertexts.length / size))
      await this.#blocks.append(block, { head: isLoading, payload: ciphertexts.subarray(from * size, to * size) });
  }

  /** Checks that all gradients have arrived and are valid. @throws TandemError the error of a block */
  async loaded(): Promise<void> {
    await this.#ask((count) => [{ case: "loaded", value: { instances: count } }, nothing]);
  }

  /** The sums of a node's bins, feature by feature. */
  async sums({ node, positions, features, plan }: SentTask): Promise<ResidentVector> {
    const columns = { features: [...features], skippedBins: [...plan.skippedBins] };
    if (node === 0) return this.#sum(await this.#ask(() => [{ case: "root", value: {} }, nothing]));
    const answers = await this.#ask((_, first, end) => {
      const places = placesWithin(positions, first, end);
      const isNobody = places.length === 0 && positions.length > 0;
      return isNobody ? null : [{ case: "node", value: columns }, places];
    });
    return this.#sum(answers);
  }

  close(): void {
    this.#blocks.close().catch(() => {}); // not awaited: the result is not needed
  }

  async #sendAll(entryOf: (block: number) => MessageInitShape<typeof PaillierBlockEntrySchema>): Promise<void> {
    for (let block = 0; block + 1 < this.#firsts.length; block++)
      await this.#blocks.append(block, {
        head: encodeMessage(PaillierBlockEntrySchema, entryOf(block)),
        payload: nothing,
      });
  }

  /** Blocks without sampled instances are not asked. */
  async #ask(
    questionOf: (count: number, first: number, end: number) => readonly [Question, Uint8Array] | null,
  ): Promise<readonly Answer[]> {
    await this.#sent;
    const questions: (Entry | null)[] = [];
    for (let block = 0; block + 1 < this.#firsts.length; block++) {
      const [first, end] = [this.#firsts[block], this.#firsts[block + 1]];
      const asked = first === end ? null : questionOf(end - first, first, end);
      if (asked === null) questions.push(null);
      else {
        const [kind, payload] = asked;
        questions.push({ head: encodeMessage(PaillierBlockQuestionSchema, { kind }), payload });
      }
    }
    return (await this.#blocks.ask(questions)).filter((answer) => answer !== null);
  }

  async #sum(answers: readonly Answer[]): Promise<ResidentVector> {
    let sum: ResidentVector | null = null;
    for (const answer of answers) {
      const cells = answer instanceof HeldBins ? answer.cells : await this.#taken(await answer.bytes());
      sum = sum === null ? cells : await this.#evaluator.add(sum, cells);
    }
    assert(sum !== null, "a sample has instances");
    return sum;
  }

  async #taken(bytes: Uint8Array): Promise<ResidentVector> {
    const received = new CiphertextVector(bytes, this.#evaluator.key.ciphertextBytes);
    const cells = this.#evaluator.allocate(received.count);
    await this.#evaluator.load(received, cells, 0);
    return cells;
  }
}

function rootOf(tree: SentNodes): { features: number[]; skippedBins: number[] } {
  const { features, plan } = tree.candidates(0);
  return { features: [...features], skippedBins: [...plan.skippedBins] };
}

/** Positions are ascending, so a block's are a consecutive range. The first block's are a view. */
function placesWithin(positions: Uint32Array, first: number, end: number): Uint8Array {
  const run = positions.subarray(lowerBound(positions, first), lowerBound(positions, end));
  const own = first === 0 ? run : run.map((position) => position - first);
  return new Uint8Array(own.buffer, own.byteOffset, own.byteLength);
}

function lowerBound(sorted: Uint32Array, value: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
