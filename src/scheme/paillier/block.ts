/**
 * Paillier's work on a block: it validates ciphertexts, stores them, and adds them up per bin. A product modulo n^2
 * does not depend on the order of its factors, so blocks can be cut anywhere. It needs no secret.
 */
import { TandemError } from "../../base/error.ts";
import type { Kernel, PublicEvaluator } from "../../crypto/paillier/kernel.ts";
import { CiphertextVector, type ResidentVector } from "../../crypto/paillier/vectors.ts";
import { isSet } from "../../wire/bitmap.ts";
import {
  type BlockColumns,
  SentBlockEntrySchema,
  SentBlockQuestionSchema,
  type SentBlockRound,
  PaillierBlockTermsSchema,
} from "../../wire/generated/tandem/v1/blocks_pb.ts";
import { decodeMessage } from "../../wire/scheme-message.ts";
import {
  type Answer,
  type BinColumns,
  type BlockData,
  type BlockWork,
  bytesAnswer,
  type Entry,
  nothing,
} from "../blocks/block.ts";
import { type BlockCells, placesFrom } from "../blocks/sent-blocks.ts";
import { checkedPublicKey } from "./received-key.ts";

/** While gradients arrive, the root is summed in pieces of this many instances: enough for joint bins to pay off. */
const rootSegmentInstances = 8192;

/** Sums per bin, as a kernel holds them. */
export class HeldBins implements Answer {
  readonly evaluator: PublicEvaluator;
  readonly cells: ResidentVector;

  constructor(evaluator: PublicEvaluator, cells: ResidentVector) {
    this.evaluator = evaluator;
    this.cells = cells;
  }

  async bytes(): Promise<Uint8Array> {
    return (await this.evaluator.unload(this.cells)).bytes;
  }
}

/** Sums of blocks, combined by the half that asked for them. */
export function paillierCells(evaluator: PublicEvaluator): BlockCells<ResidentVector> {
  return {
    from: async (answer) => {
      if (answer instanceof HeldBins) return answer.cells;
      const received = new CiphertextVector(await answer.bytes(), evaluator.key.ciphertextBytes);
      const cells = evaluator.allocate(received.count);
      await evaluator.load(received, cells, 0);
      return cells;
    },
    add: (a, b) => evaluator.add(a, b),
  };
}

/** The state since the log began. */
interface Round {
  /** Instances whose gradients will arrive. */
  readonly sampled: number;
  /** Per feature the bin of each of them; computed on first use. */
  readonly bins: (feature: number) => Uint16Array;
  loaded: number;
  root: BlockColumns;
  /** How many of the loaded instances are included in the root's bins. */
  summed: number;
  rootBins: ResidentVector | null;
}

export class PaillierBlock implements BlockWork {
  readonly #evaluator: PublicEvaluator;
  readonly #width: number;
  readonly #jointBins: boolean;
  readonly #rowCount: number;
  readonly #columns: BinColumns;
  /** Memory for one round's gradients, reused for every round. */
  readonly #gradients: ResidentVector;
  #round: Round | null = null;

  constructor(kernel: Kernel, { terms, rowCount, columns }: BlockData, threads: number) {
    const { modulus, keyBits, ciphertextsPerInstance, jointBins } = decodeMessage(PaillierBlockTermsSchema, terms);
    this.#evaluator = kernel.publicEvaluator(checkedPublicKey(modulus, keyBits), { threads });
    this.#width = ciphertextsPerInstance;
    this.#jointBins = jointBins;
    this.#rowCount = rowCount;
    this.#columns = columns;
    this.#gradients = allocated(this.#evaluator, rowCount * ciphertextsPerInstance);
  }

  begin(): void {
    this.#round = null;
  }

  async take({ head, payload }: Entry): Promise<void> {
    const { kind } = decodeMessage(SentBlockEntrySchema, head);
    if (kind.case === "round") return this.#beginRound(kind.value);
    if (kind.case === "gradients") return this.#load(payload);
    if (kind.case !== "tree") throw new TandemError("PROTOCOL_STATE", "unknown entry in the log of a block");
    // Column sampling may have drawn other columns for this tree.
    Object.assign(this.#roundState(), { root: kind.value, summed: 0, rootBins: null });
  }

  async answer({ head, payload }: Entry): Promise<Answer> {
    const { kind } = decodeMessage(SentBlockQuestionSchema, head);
    const { loaded, sampled } = this.#roundState();
    const isWhole = loaded === sampled && (kind.case !== "loaded" || kind.value.instances === sampled);
    if (!isWhole) throw new TandemError("PROTOCOL_STATE", `a block has gradients of ${loaded} of ${sampled} instances`);
    if (kind.case === "loaded") return bytesAnswer(nothing);
    if (kind.case === "root") return new HeldBins(this.#evaluator, await this.#rootBins());
    if (kind.case !== "node") throw new TandemError("PROTOCOL_STATE", "unknown question to a block");
    return new HeldBins(this.#evaluator, await this.#histogram(kind.value, placesFrom(payload)));
  }

  #beginRound({ sampled: bitmap, root }: SentBlockRound): void {
    if (root === undefined) throw new TandemError("PROTOCOL_STATE", "the round has no root");
    const { bins } = this.#columns;
    const common = { loaded: 0, root, summed: 0, rootBins: null };
    if (bitmap.length === 0) {
      this.#round = { ...common, sampled: this.#rowCount, bins: (feature) => bins[feature] };
      return;
    }
    const rows = Uint32Array.from({ length: this.#rowCount }, (_, i) => i).filter((row) => isSet(bitmap, row));
    const gathered = new Map<number, Uint16Array>();
    const gather = (feature: number): Uint16Array => {
      const own = gathered.get(feature) ?? Uint16Array.from(rows, (row) => bins[feature][row]);
      gathered.set(feature, own);
      return own;
    };
    this.#round = { ...common, sampled: rows.length, bins: gather };
  }

  async #load(ciphertexts: Uint8Array): Promise<void> {
    const round = this.#roundState();
    const evaluator = this.#evaluator;
    const received = new CiphertextVector(ciphertexts, evaluator.key.ciphertextBytes);
    const count = received.count / this.#width;
    if (!Number.isInteger(count) || round.loaded + count > round.sampled)
      throw new TandemError("PROTOCOL_STATE", "more gradients than a block has instances");
    const first = round.loaded * this.#width;
    await evaluator.load(received, this.#gradients, first);
    if ((await evaluator.firstUnsealed(evaluator.slice(this.#gradients, first, received.count))) >= 0)
      throw new TandemError("PROTOCOL_STATE", "a chunk of gradients has a plaintext that was not encrypted");
    round.loaded += count;
    if (round.loaded - round.summed >= rootSegmentInstances) await this.#rootBins();
  }

  /** Adds the gradients received since the last call to the root's bins, while the next ones are being encrypted. */
  async #rootBins(): Promise<ResidentVector> {
    const round = this.#roundState();
    const { summed: first, rootBins: before } = round;
    const arrived = Uint32Array.from({ length: round.loaded - first }, (_, i) => first + i);
    if (before !== null && arrived.length === 0) return before;
    const bins = await this.#histogram(round.root, arrived);
    round.rootBins = before === null ? bins : await this.#evaluator.add(before, bins);
    round.summed = round.loaded;
    return round.rootBins;
  }

  #histogram({ features, skippedBins }: BlockColumns, instances: Uint32Array): Promise<ResidentVector> {
    const { sampled, bins } = this.#roundState();
    const { binCounts } = this.#columns;
    return this.#evaluator.histogram({
      gradients: this.#evaluator.slice(this.#gradients, 0, sampled * this.#width),
      ciphertextsPerInstance: this.#width,
      instances,
      bins: features.map(bins),
      binCounts: Uint32Array.from(features, (feature) => binCounts[feature]),
      skippedBins: Int32Array.from(skippedBins),
      jointBins: this.#jointBins,
    });
  }

  #roundState(): Round {
    if (this.#round === null) throw new TandemError("PROTOCOL_STATE", "no round has been started");
    return this.#round;
  }
}

function allocated(evaluator: PublicEvaluator, count: number): ResidentVector {
  try {
    return evaluator.allocate(count);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new TandemError("PROTOCOL_STATE", `not enough memory for ${count} ciphertexts`, { cause });
  }
}
