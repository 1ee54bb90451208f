/** A round's encrypted gradients at a passive party, distributed over its blocks, and their sums per bin. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { assert } from "../../base/assert.ts";
import { SentBlockEntrySchema, SentBlockQuestionSchema } from "../../wire/generated/tandem/v1/blocks_pb.ts";
import { encodeMessage } from "../../wire/scheme-message.ts";
import { type Answer, type Entry, nothing } from "./block.ts";
import { blockParts } from "./block-bounds.ts";
import type { Blocks } from "./crew.ts";
import type { SentTask } from "../candidates/node-task.ts";
import type { SentNodes } from "../candidates/sent-nodes.ts";

type Question = NonNullable<MessageInitShape<typeof SentBlockQuestionSchema>["kind"]>;

const isLoading = encodeMessage(SentBlockEntrySchema, { kind: { case: "gradients", value: {} } });

const haveBases = encodeMessage(SentBlockEntrySchema, { kind: { case: "bases", value: {} } });

/** Sums per bin as a scheme holds them. */
export interface BlockCells<Cells> {
  from(answer: Answer): Promise<Cells>;
  add(a: Cells, b: Cells): Promise<Cells>;
}

export class SentBlocks<Cells> {
  readonly #blocks: Blocks;
  readonly #cells: BlockCells<Cells>;
  /** Bytes of an instance's ciphertexts. */
  readonly #instanceBytes: number;
  /** What the gradients of all rounds refer to, the same number of bytes per row; empty until they are received. */
  #bases: Uint8Array = nothing;
  /** The position of each block's first sampled instance, followed by the number of sampled instances. */
  #firsts: Uint32Array;
  /** The last entry, while it is being sent. */
  #sent: Promise<void> = Promise.resolve();

  constructor(blocks: Blocks, instanceBytes: number, cells: BlockCells<Cells>) {
    this.#blocks = blocks;
    this.#cells = cells;
    this.#instanceBytes = instanceBytes;
    this.#firsts = blocks.bounds;
  }

  get isElsewhere(): boolean {
    return this.#blocks.isElsewhere;
  }

  beginRound(tree: SentNodes): void {
    const { bounds } = this.#blocks;
    this.#firsts = bounds.map((first) => tree.sample.before(first));
    const root = rootOf(tree);
    const begin = async (): Promise<void> => {
      await this.#blocks.begin();
      await this.#sendAll((block) => {
        const sampled = tree.sample.bitmap(bounds[block], bounds[block + 1]);
        return { kind: { case: "round", value: { sampled, root } } };
      });
      await this.#sendBases();
    };
    this.#sent = begin();
    this.#sent.catch(() => {}); // the next call rethrows it
  }

  nextTree(tree: SentNodes): void {
    const root = rootOf(tree);
    this.#sent = this.#sent.then(() => this.#sendAll(() => ({ kind: { case: "tree", value: root } })));
    this.#sent.catch(() => {});
  }

  /** The bases of all rows: every log begins with them, since a block is a function of its log. */
  async loadBases(bases: Uint8Array): Promise<void> {
    await this.#sent;
    this.#bases = bases;
    await this.#sendBases();
  }

  async #sendBases(): Promise<void> {
    if (this.#bases.length === 0) return;
    const { bounds } = this.#blocks;
    const size = this.#bases.length / bounds[bounds.length - 1];
    for (let block = 0; block + 1 < bounds.length; block++) {
      const payload = this.#bases.subarray(bounds[block] * size, bounds[block + 1] * size);
      await this.#blocks.append(block, { head: haveBases, payload });
    }
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
  async sums({ node, positions, features, plan }: SentTask): Promise<Cells> {
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

  async #sendAll(entryOf: (block: number) => MessageInitShape<typeof SentBlockEntrySchema>): Promise<void> {
    for (let block = 0; block + 1 < this.#firsts.length; block++)
      await this.#blocks.append(block, {
        head: encodeMessage(SentBlockEntrySchema, entryOf(block)),
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
        questions.push({ head: encodeMessage(SentBlockQuestionSchema, { kind }), payload });
      }
    }
    return (await this.#blocks.ask(questions)).filter((answer) => answer !== null);
  }

  async #sum(answers: readonly Answer[]): Promise<Cells> {
    let sum: Cells | null = null;
    for (const answer of answers) {
      const cells = await this.#cells.from(answer);
      sum = sum === null ? cells : await this.#cells.add(sum, cells);
    }
    assert(sum !== null, "a sample has instances");
    return sum;
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

/** The places of a question to a block: a view if the bytes are aligned, otherwise a copy. */
export function placesFrom(bytes: Uint8Array): Uint32Array {
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : Uint8Array.from(bytes);
  return new Uint32Array(aligned.buffer, aligned.byteOffset, aligned.byteLength / 4);
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
