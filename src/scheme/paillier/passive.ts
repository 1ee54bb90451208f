/**
 * The passive half of the Paillier scheme: it keeps the tree's encrypted gradients in one flat buffer, adds them up per
 * bin and per candidate side, packs the sums and re-randomises what it returns. It holds a public key only.
 *
 * Re-randomisation hides from the key owner which instances were summed, so it uses fresh r^n with r from the OS.
 * It uses n only with a proof that this leaves nothing but the sums (crypto/paillier/modulus-proof.ts). Noise, and
 * random bits beside the sums, are sealed with the same r^n (added-plaintexts.ts): a product per ciphertext more.
 */
import { assert } from "../../base/assert.ts";
import { TandemError } from "../../base/error.ts";
import { type SumPacking, sumPacking } from "../../codec/packing.ts";
import type { Kernel, PublicEvaluator } from "../../crypto/paillier/kernel.ts";
import { checkModulusProof } from "../../crypto/paillier/modulus-proof.ts";
import { CiphertextVector, type ResidentVector } from "../../crypto/paillier/vectors.ts";
import {
  PaillierGradientsSchema,
  PaillierSetUpSchema,
  PaillierSumsSchema,
} from "../../wire/generated/tandem/v1/paillier_pb.ts";
import { decodeMessage, encodeMessage } from "../../wire/scheme-message.ts";
import { type CandidatePlan, widened } from "../candidates/candidate-plan.ts";
import type { NodeTask } from "../candidates/node-task.ts";
import type { TreeNodes } from "../candidates/tree-nodes.ts";
import { noOperations, type PassiveScheme, type PassiveSchemeJob, type SumsPiece } from "../scheme.ts";
import { type Addition, addedPlaintexts } from "./added-plaintexts.ts";
import { ObfuscatorPool } from "./obfuscator-pool.ts";
import { publicKeyOf } from "./received-key.ts";
import { checkedLayout } from "./received-layout.ts";
import { SeenCiphertexts } from "./seen-ciphertexts.ts";
import { type NodeRoom, UnusedRoom } from "./unused-room.ts";

/** The root is summed in pieces of this many instances while gradients arrive: large enough for joint bins to pay. */
const rootSegmentInstances = 8192;
/** Packed ciphertexts that are sent at a time: the active party decrypts them while the next are being packed. */
export const ciphertextsPerPiece = 32;
const obfuscatorBatch = 32;
/** Prepared for one tree at the most: deep trees ask for fewer nodes than they could. */
const obfuscatorsAheadMax = 1024;

/** What is fixed for the job once the key is known. */
interface SetUpState {
  readonly job: PassiveSchemeJob;
  readonly evaluator: PublicEvaluator;
  readonly ciphertextsPerInstance: number;
  readonly packing: SumPacking;
  readonly addition: Addition;
  readonly jointBins: boolean;
  /** Room for one tree's gradients, used again for every tree. */
  readonly gradients: ResidentVector;
  readonly obfuscators: ObfuscatorPool;
}

interface RoundState {
  tree: TreeNodes;
  /** Sampled instances whose gradients are here. */
  instancesLoaded: number;
  /** Of these, those that are in the root's bins. */
  rootInstances: number;
  /** Sums per bin over the first rootInstances; null before the first. One piece is added after the other. */
  rootBins: Promise<ResidentVector | null>;
  readonly seen: SeenCiphertexts;
  readonly room: UnusedRoom;
}

export class PaillierPassive implements PassiveScheme {
  readonly hidden = null;
  readonly counts = noOperations();
  readonly #kernel: Kernel;
  readonly #threads: number;
  #state: SetUpState | null = null;
  #round: RoundState | null = null;

  constructor(kernel: Kernel, threads: number) {
    this.#kernel = kernel;
    this.#threads = threads;
  }

  async setUp(message: Uint8Array, job: PassiveSchemeJob): Promise<Uint8Array> {
    const { modulus, ciphertextsPerInstance, plaintextBits, packing, jointBins, roots } = decodeMessage(
      PaillierSetUpSchema,
      message,
    );
    const key = publicKeyOf(modulus, job.parameters["keyBits"]);
    if (ciphertextsPerInstance < 1 || ciphertextsPerInstance > 1024 || plaintextBits < 1 || plaintextBits >= key.bits) {
      throw new TandemError("PROTOCOL_STATE", "a set-up message with an impossible layout");
    }
    const layout = checkedLayout({ ciphertextsPerInstance, plaintextBits, packing }, job, key.bits);
    const evaluator = this.#kernel.publicEvaluator(key, { threads: this.#threads });
    await checkModulusProof(evaluator, roots);
    const sumsPacking = sumPacking(plaintextBits, key.bits, packing);
    this.#state = {
      job,
      evaluator,
      ciphertextsPerInstance,
      packing: sumsPacking,
      addition: { layout, packing: sumsPacking, key },
      jointBins,
      gradients: allocated(evaluator, job.instanceCount * ciphertextsPerInstance),
      obfuscators: new ObfuscatorPool(evaluator, (count) => evaluator.obfuscators(count), obfuscatorBatch),
    };
    return message;
  }

  beginRound(tree: TreeNodes): void {
    const { job, ciphertextsPerInstance, obfuscators, packing } = this.#setUpState();
    const perNode = Math.ceil((job.candidateCount * ciphertextsPerInstance) / packing.perCiphertext);
    obfuscators.prepare(Math.min(perNode * job.nodesAskedMax * job.treesPerRound, obfuscatorsAheadMax));
    const room = new UnusedRoom();
    const seen = new SeenCiphertexts(tree.sample.count * ciphertextsPerInstance);
    this.#round = { tree, instancesLoaded: 0, rootInstances: 0, rootBins: Promise.resolve(null), seen, room };
  }

  nextTree(tree: TreeNodes): void {
    const round = this.#roundState();
    round.tree = tree;
    // Other columns may have been drawn for this tree.
    round.rootInstances = 0;
    round.rootBins = Promise.resolve(null);
  }

  async gradients(message: Uint8Array): Promise<number> {
    const { evaluator, ciphertextsPerInstance, gradients } = this.#setUpState();
    const round = this.#roundState();
    const { ciphertexts, firstInstance } = decodeMessage(PaillierGradientsSchema, message);
    const width = evaluator.key.ciphertextBytes;
    const count = ciphertexts.length / (width * ciphertextsPerInstance);
    const continues = firstInstance === round.instancesLoaded;
    if (!continues || !Number.isInteger(count) || count < 1 || firstInstance + count > round.tree.sample.count) {
      throw new TandemError(
        "PROTOCOL_STATE",
        `a chunk of gradients at instance ${firstInstance} does not continue at ${round.instancesLoaded}`,
      );
    }
    const received = new CiphertextVector(ciphertexts, width);
    const first = firstInstance * ciphertextsPerInstance;
    await evaluator.load(received, gradients, first);
    if ((await evaluator.firstUnsealed(evaluator.slice(gradients, first, received.count))) >= 0)
      throw new TandemError("PROTOCOL_STATE", "a chunk of gradients has a plaintext that was not encrypted");
    round.seen.add(received);
    round.instancesLoaded += count;
    if (round.instancesLoaded - round.rootInstances >= rootSegmentInstances) await this.#rootBins();
    this.counts.gradientCiphertexts += count * ciphertextsPerInstance;
    return count * ciphertextsPerInstance;
  }

  endOfGradients(): void {
    const { instancesLoaded, tree, seen } = this.#roundState();
    const expected = tree.sample.count;
    if (instancesLoaded !== expected)
      throw new TandemError(
        "PROTOCOL_STATE",
        `gradients of ${instancesLoaded} instances arrived; ${expected} were expected`,
      );
    if (seen.hasRepeats()) throw new TandemError("PROTOCOL_STATE", "a ciphertext stands twice in a round's gradients");
  }

  async *sums(task: NodeTask): AsyncGenerator<SumsPiece> {
    const { evaluator, ciphertextsPerInstance: width, packing } = this.#setUpState();
    const { plan, counts } = task;
    if (counts.length === 0) return;
    const bins = task.node === 0 ? await this.#rootBins() : await this.#histogram(plan, task.bins, task.positions);
    const targetCount = counts.length * width;
    const sums = await evaluator.runningSums({ source: bins, targetCount, ...widened(plan, width) });
    this.#countAdditions(task);
    await evaluator.clear(sums, withheldElements(task.withheld, width));

    const room = this.#roundState().room.ofNode(task.positions);
    const candidatesPerPiece = ciphertextsPerPiece * packing.perCiphertext; // whole ciphertexts, whatever the codec
    for (let first = 0; first < counts.length; first += candidatesPerPiece) {
      const candidateCount = Math.min(candidatesPerPiece, counts.length - first);
      const source = evaluator.slice(sums, first * width, candidateCount * width);
      const packed = await evaluator.pack({ source, ...packing });
      const fresh = await this.#rerandomised(packed, room, task, first, candidateCount);
      const { bytes: ciphertexts } = await evaluator.unload(fresh);
      this.counts.additions += source.count - packed.count;
      this.counts.candidateCiphertexts += packed.count;
      yield { candidateCount, message: encodeMessage(PaillierSumsSchema, { ciphertexts }) };
    }
  }

  /** With the noise of candidates from `first` on, where there is some, and random bits where no sum is. */
  async #rerandomised(
    packed: ResidentVector,
    room: NodeRoom,
    task: NodeTask,
    first: number,
    count: number,
  ): Promise<ResidentVector> {
    const { evaluator, obfuscators, addition } = this.#setUpState();
    const fresh = await obfuscators.take(packed.count);
    const added = addedPlaintexts(addition, room, await evaluator.unload(packed), task, first, count);
    return evaluator.add(packed, await evaluator.sealWith(added, fresh));
  }

  endRound(): void {
    this.#setUpState().obfuscators.pause();
  }

  close(): void {
    this.#state?.obfuscators.pause();
  }

  #histogram(plan: CandidatePlan, bins: readonly Uint16Array[], instances: Uint32Array): Promise<ResidentVector> {
    const { evaluator, ciphertextsPerInstance, gradients, jointBins } = this.#setUpState();
    const sampled = this.#roundState().tree.sample.count;
    return evaluator.histogram({
      gradients: evaluator.slice(gradients, 0, sampled * ciphertextsPerInstance),
      ciphertextsPerInstance,
      instances,
      bins,
      binCounts: plan.binCounts,
      skippedBins: plan.skippedBins,
      jointBins,
    });
  }

  /** Sums what has arrived since the last call into the root's bins: while the next gradients are being encrypted. */
  async #rootBins(): Promise<ResidentVector> {
    const { evaluator } = this.#setUpState();
    const round = this.#roundState();
    const { tree, rootInstances: first } = round;
    const count = round.instancesLoaded - first;
    round.rootInstances = round.instancesLoaded;
    if (count > 0) {
      const root = tree.candidates(0);
      const arrived = Uint32Array.from({ length: count }, (_, i) => first + i);
      round.rootBins = round.rootBins.then(async (before) => {
        const bins = await this.#histogram(root.plan, tree.binsOf(root), arrived);
        return before === null ? bins : evaluator.add(before, bins);
      });
    }
    const bins = await round.rootBins;
    assert(bins !== null, "the root has instances");
    return bins;
  }

  /**
   * Homomorphic additions: filling a bin for the first time is a copy; along the chains empty bins are added like
   * others.
   */
  #countAdditions({ plan, binCounts }: NodeTask): void {
    let additions = 0;
    let first = 0;
    plan.binCounts.forEach((count, feature) => {
      for (let bin = 0; bin < count; bin++) {
        if (bin !== plan.skippedBins[feature]) additions += Math.max(0, binCounts[first + bin] - 1);
      }
      first += count;
    });
    for (let chain = 0; chain + 1 < plan.chainOffsets.length; chain++) {
      additions += Math.max(0, plan.chainOffsets[chain + 1] - plan.chainOffsets[chain] - 1);
    }
    this.counts.additions += additions * this.#setUpState().ciphertextsPerInstance;
  }

  #setUpState(): SetUpState {
    if (this.#state === null) throw new TandemError("PROTOCOL_STATE", "the scheme is not set up");
    return this.#state;
  }

  #roundState(): RoundState {
    if (this.#round === null) throw new TandemError("PROTOCOL_STATE", "no tree has begun");
    return this.#round;
  }
}

/** The elements of withheld candidates among all sums, `width` per candidate. */
function withheldElements(withheld: Uint8Array, width: number): Uint32Array {
  const elements: number[] = [];
  for (const [position, isWithheld] of withheld.entries()) {
    if (isWithheld === 0) continue;
    for (let j = 0; j < width; j++) elements.push(position * width + j);
  }
  return Uint32Array.from(elements);
}

function allocated(evaluator: PublicEvaluator, count: number): ResidentVector {
  try {
    return evaluator.allocate(count);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new TandemError("PROTOCOL_STATE", `there is no memory for ${count} ciphertexts`, { cause });
  }
}
