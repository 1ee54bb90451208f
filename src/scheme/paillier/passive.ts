/**
 * The passive half of the Paillier scheme: it keeps the tree's encrypted gradients in one flat buffer, adds them up per
 * bin and per candidate side, packs the sums and re-randomises what it returns. It holds a public key only.
 *
 * Candidates of small groups are withheld where the party's owner has set minimums (gbdt/split/offered-candidates.ts).
 *
 * Re-randomisation hides from the key owner which instances were summed, so it uses fresh r^n with r from the OS.
 *
 * @reveals active: which candidates are withheld at a pair of nodes, and so that one of their sides, or one of the
 * nodes, is small
 */
import { assert } from "../../base/assert.ts";
import { TandemError } from "../../base/error.ts";
import { type SumPacking, sumPacking } from "../../codec/packing.ts";
import type { Kernel, PublicEvaluator } from "../../crypto/paillier/kernel.ts";
import { CiphertextVector, type ResidentVector } from "../../crypto/paillier/vectors.ts";
import { create } from "@bufbuild/protobuf";
import { partition } from "../../wire/bitmap.ts";
import { candidateCount, candidatesOf } from "../../gbdt/split/candidate.ts";
import { treeSizeMax } from "../../gbdt/tree/grow.ts";
import {
  binCountsOf,
  type CandidatePlan,
  mostFrequentBins,
  type PlannedCandidate,
  sideCounts,
  widened,
} from "../candidates/candidate-plan.ts";
import { candidateIn, type CandidateSet, TreeCandidates } from "../candidates/candidate-set.ts";
import { groupedCount, setFrom } from "../candidates/category-group.ts";
import { type CategorySet, PaillierSumsSchema } from "../../wire/generated/tandem/v1/tandem_pb.ts";
import { paillierSchemeName } from "./active.ts";
import {
  type NodeAnswer,
  noOperations,
  type PassiveScheme,
  type PassiveSchemeJob,
  type SchemeNode,
  type SchemeSetUp,
  type SchemeTree,
} from "../scheme.ts";
import { areOff, type CountedNode, OfferedCandidates } from "../../gbdt/split/offered-candidates.ts";
import { ObfuscatorPool } from "./obfuscator-pool.ts";
import { publicKeyOf } from "./received-key.ts";
import { TreeSample } from "../candidates/tree-sample.ts";
import { candidateCountMax } from "../../wire/version.ts";
import { withheldBitmap } from "../candidates/withheld.ts";

/** The root is summed in pieces of this many instances while gradients arrive: large enough for joint bins to pay. */
const rootSegmentInstances = 8192;
/** Packed ciphertexts that are sent at a time: the active party decrypts them while the next are being packed. */
const ciphertextsPerPiece = 32;
const obfuscatorBatch = 32;
/** Prepared for one tree at the most: deep trees ask for fewer nodes than they could. */
const obfuscatorsAheadMax = 1024;

/** What is fixed for the job once the key is known. */
interface SetUpState {
  readonly job: PassiveSchemeJob;
  readonly evaluator: PublicEvaluator;
  readonly ciphertextsPerInstance: number;
  readonly packing: SumPacking;
  readonly allInstances: Uint32Array;
  /** The most frequent bins at the root, which is the same in every tree. */
  readonly skippedBins: Int32Array;
  readonly jointBins: boolean;
  readonly candidateCount: number;
  /** Room for one tree's gradients, used again for every tree. */
  readonly gradients: ResidentVector;
  readonly obfuscators: ObfuscatorPool;
}

interface NodeInTree {
  /** All instances, sampled or not. */
  readonly members: Uint32Array;
  readonly depth: number;
  /** -1 for the root. */
  readonly parent: number;
  /** Its children are known. */
  isParent: boolean;
}

interface TreeState {
  candidates: TreeCandidates;
  nodes: Map<number, NodeInTree>;
  /** Arrives with the first gradients. */
  sample: TreeSample | null;
  /** What is offered at which node; null until it is first asked for, and where the owner has set no minimums. */
  offered: OfferedCandidates | null;
  instancesLoaded: number;
  rootInstances: number;
  /**
   * Sums per bin over the first rootInstances sampled instances; null before the first. One piece is added after the
   * other.
   */
  rootBins: Promise<ResidentVector | null>;
}

export class PaillierPassive implements PassiveScheme {
  readonly name = paillierSchemeName;
  readonly counts = noOperations();
  readonly #kernel: Kernel;
  readonly #threads: number;
  #state: SetUpState | null = null;
  #tree: TreeState | null = null;

  constructor(kernel: Kernel, threads: number) {
    this.#kernel = kernel;
    this.#threads = threads;
  }

  setUp(message: SchemeSetUp, job: PassiveSchemeJob): number {
    if (message.case !== "paillier") throw new TandemError("PROTOCOL_STATE", "a set-up message without a Paillier key");
    const { modulus, ciphertextsPerInstance, plaintextBits, skipBin, jointBins } = message.value;
    const key = publicKeyOf(modulus, job.keyBits);
    if (ciphertextsPerInstance < 1 || ciphertextsPerInstance > 1024 || plaintextBits < 1 || plaintextBits >= key.bits) {
      throw new TandemError("PROTOCOL_STATE", "a set-up message with an impossible layout");
    }
    const evaluator = this.#kernel.publicEvaluator(key, { threads: this.#threads });
    const count = job.features.reduce((sum, feature) => sum + candidateCount(feature), 0);
    if (count > candidateCountMax) {
      throw new TandemError(
        "USAGE",
        `${count} split candidates are more than ${candidateCountMax}; use a smaller max_bin or fewer features`,
      );
    }
    const gradients = allocated(evaluator, job.instanceCount * ciphertextsPerInstance);
    const obfuscators = new ObfuscatorPool(evaluator, (count) => evaluator.obfuscators(count), obfuscatorBatch);
    const packing = sumPacking(plaintextBits, key.bits, message.value.packing);
    const allInstances = Uint32Array.from({ length: job.instanceCount }, (_, i) => i);
    const skippedBins = skipBin
      ? mostFrequentBins(job.features, allInstances)
      : new Int32Array(job.features.length).fill(-1);
    this.#state = {
      job,
      evaluator,
      ciphertextsPerInstance,
      packing,
      allInstances,
      skippedBins,
      jointBins,
      candidateCount: count,
      gradients,
      obfuscators,
    };
    return count;
  }

  beginTree(tree: number): void {
    const {
      job,
      candidateCount: count,
      ciphertextsPerInstance,
      obfuscators,
      packing,
      allInstances,
      skippedBins,
    } = this.#setUpState();
    const nodesAsked = 1 + treeSizeMax(job).pairs; // the root and one child of each pair
    const perNode = Math.ceil((count * ciphertextsPerInstance) / packing.perCiphertext);
    obfuscators.prepare(Math.min(perNode * nodesAsked * job.treesPerRound, obfuscatorsAheadMax));
    const candidates = new TreeCandidates({ ...job, skippedBins }, tree, Math.floor(tree / job.treesPerRound));
    const nodes = new Map([[0, rootOf(allInstances)]]);
    this.#tree = {
      candidates,
      nodes,
      sample: null,
      offered: null,
      instancesLoaded: 0,
      rootInstances: 0,
      rootBins: Promise.resolve(null),
    };
  }

  nextTree(tree: number): void {
    const { job, allInstances, skippedBins } = this.#setUpState();
    const state = this.#treeState();
    state.candidates = new TreeCandidates({ ...job, skippedBins }, tree, Math.floor(tree / job.treesPerRound));
    state.nodes = new Map([[0, rootOf(allInstances)]]);
    state.offered = null;
    // Other columns may have been drawn for this tree.
    state.rootInstances = 0;
    state.rootBins = Promise.resolve(null);
  }

  async tree(message: SchemeTree): Promise<void> {
    const { evaluator, ciphertextsPerInstance, gradients, job } = this.#setUpState();
    const tree = this.#treeState();
    if (message.case !== "paillier") throw new TandemError("PROTOCOL_STATE", "gradients without Paillier ciphertexts");
    const { ciphertexts, firstInstance, sampled } = message.value;
    if (tree.sample === null) tree.sample = new TreeSample(job.features, job.instanceCount, sampled);
    else if (sampled.length > 0) throw new TandemError("PROTOCOL_STATE", "a second sample of one tree");
    const instanceBytes = evaluator.key.ciphertextBytes * ciphertextsPerInstance;
    const count = ciphertexts.length / instanceBytes;
    if (
      firstInstance !== tree.instancesLoaded ||
      !Number.isInteger(count) ||
      count < 1 ||
      firstInstance + count > tree.sample.count
    ) {
      throw new TandemError(
        "PROTOCOL_STATE",
        `a chunk of gradients at instance ${firstInstance} does not continue at ${tree.instancesLoaded}`,
      );
    }
    await evaluator.load(
      new CiphertextVector(ciphertexts, evaluator.key.ciphertextBytes),
      gradients,
      firstInstance * ciphertextsPerInstance,
    );
    tree.instancesLoaded += count;
    if (tree.instancesLoaded - tree.rootInstances >= rootSegmentInstances) await this.#rootBins();
    this.counts.gradientCiphertexts += count * ciphertextsPerInstance;
  }

  endOfGradients(): void {
    const { instancesLoaded, sample } = this.#treeState();
    const expected = sample?.count ?? this.#setUpState().job.instanceCount;
    if (instancesLoaded !== expected)
      throw new TandemError(
        "PROTOCOL_STATE",
        `gradients of ${instancesLoaded} instances arrived; ${expected} were expected`,
      );
  }

  async *node(node: number, message: SchemeNode): AsyncGenerator<NodeAnswer> {
    this.endOfGradients();
    const { evaluator, ciphertextsPerInstance, packing, obfuscators } = this.#setUpState();
    const positions = this.#sample().positions(this.#placeNode(node, message));
    const set = this.#candidatesOf(node);
    const { plan } = set;
    const binCounts = binCountsOf(this.#binsOf(set), plan, positions);
    const counts = sideCounts(plan, binCounts);
    if (counts.length === 0) return;

    const bins = node === 0 ? await this.#rootBins() : await this.#histogram(set, positions);
    const sums = await evaluator.runningSums({
      source: bins,
      targetCount: counts.length * ciphertextsPerInstance,
      ...widened(plan, ciphertextsPerInstance),
    });
    this.#countAdditions(plan, binCounts);
    const withheld = await this.#withhold(node, set, counts, sums);

    const candidatesPerPiece = ciphertextsPerPiece * packing.perCiphertext; // whole ciphertexts, whatever the codec
    for (let first = 0; first < counts.length; first += candidatesPerPiece) {
      const last = Math.min(first + candidatesPerPiece, counts.length);
      const source = evaluator.slice(sums, first * ciphertextsPerInstance, (last - first) * ciphertextsPerInstance);
      const packed = await evaluator.pack({ source, ...packing });
      const fresh = await evaluator.rerandomise(packed, await obfuscators.take(packed.count));
      const ciphertexts = (await evaluator.unload(fresh)).bytes;
      this.counts.additions += source.count - packed.count;
      this.counts.candidateCiphertexts += packed.count;
      yield {
        node,
        firstCandidate: first,
        candidateCount: counts.length,
        counts: counts.subarray(first, last),
        orders: plan.orders.subarray(first, last),
        withheld: withheldBitmap(withheld.subarray(first, last)),
        groups: first === 0 ? set.groups : [],
        scheme: { case: "paillier", value: create(PaillierSumsSchema, { ciphertexts }) },
      };
    }
  }

  /**
   * Takes counts and sums of what is not offered out of an answer, before it is packed. @returns per position 1 if it
   * is withheld
   */
  async #withhold(node: number, set: CandidateSet, counts: Uint32Array, sums: ResidentVector): Promise<Uint8Array> {
    const withheld = new Uint8Array(counts.length);
    const offered = this.#offered();
    if (offered === null) return withheld;
    const { evaluator, ciphertextsPerInstance } = this.#setUpState();
    const cleared: number[] = [];
    for (let position = 0; position < counts.length; position++) {
      const candidate = candidateIn(set, position);
      if (offered.has(node, candidate.feature, candidate)) continue;
      withheld[position] = 1;
      counts[position] = 0;
      for (let j = 0; j < ciphertextsPerInstance; j++) cleared.push(position * ciphertextsPerInstance + j);
    }
    await evaluator.clear(sums, Uint32Array.from(cleared));
    return withheld;
  }

  #histogram(set: CandidateSet, positions: Uint32Array): Promise<ResidentVector> {
    const { evaluator, ciphertextsPerInstance, gradients, jointBins } = this.#setUpState();
    const { plan } = set;
    return evaluator.histogram({
      gradients: evaluator.slice(gradients, 0, this.#sample().count * ciphertextsPerInstance),
      ciphertextsPerInstance,
      instances: positions,
      bins: this.#binsOf(set),
      binCounts: plan.binCounts,
      skippedBins: plan.skippedBins,
      jointBins,
    });
  }

  /** Sums what has arrived since the last call into the root's bins: while the next gradients are being encrypted. */
  async #rootBins(): Promise<ResidentVector> {
    const { evaluator } = this.#setUpState();
    const tree = this.#treeState();
    const set = this.#candidatesOf(0);
    const first = tree.rootInstances;
    const count = tree.instancesLoaded - first;
    tree.rootInstances = tree.instancesLoaded;
    if (count > 0) {
      tree.rootBins = tree.rootBins.then(async (before) => {
        const bins = await this.#histogram(
          set,
          Uint32Array.from({ length: count }, (_, i) => first + i),
        );
        return before === null ? bins : evaluator.add(before, bins);
      });
    }
    const bins = await tree.rootBins;
    assert(bins !== null, "the root has instances");
    return bins;
  }

  endTree(): void {
    this.#setUpState().obfuscators.pause();
  }

  close(): void {
    this.#state?.obfuscators.pause();
  }

  members(node: number): Uint32Array {
    return this.#placeOf(node).members;
  }

  candidateAt(node: number, position: number): PlannedCandidate & { rank: number } {
    const set = this.#candidatesOf(node);
    if (position >= set.byPosition.length)
      throw new TandemError("PROTOCOL_STATE", `candidate ${position} does not exist`);
    if (position < groupedCount(set.groups))
      throw new TandemError("PROTOCOL_STATE", `candidate ${position} is a category, not a split`);
    const candidate = candidateIn(set, position);
    if (this.#offered()?.has(node, candidate.feature, candidate) === false)
      throw new TandemError("PROTOCOL_STATE", `candidate ${position} is withheld at node ${node}`);
    return candidate;
  }

  setAt(node: number, message: CategorySet): PlannedCandidate & { rank: number } {
    const group = this.#candidatesOf(node).groups[message.group];
    if (group === undefined)
      throw new TandemError("PROTOCOL_STATE", `node ${node} has no group ${message.group} of categories`);
    const { feature, firstRank } = group;
    const parts = candidatesOf(this.#setUpState().job.features[feature]);
    const isWithheld = (place: number): boolean => this.#offered()?.has(node, feature, parts[place]) === false;
    return { feature, rank: firstRank, ...setFrom(message, group, isWithheld) };
  }

  #placeOf(node: number): NodeInTree {
    const place = this.#treeState().nodes.get(node);
    if (place === undefined) throw new TandemError("PROTOCOL_STATE", `node ${node} is not known in this tree`);
    return place;
  }

  #candidatesOf(node: number): CandidateSet {
    return this.#treeState().candidates.at({ node, depth: this.#placeOf(node).depth });
  }

  #sample(): TreeSample {
    const { sample } = this.#treeState();
    assert(sample !== null, "gradients have arrived");
    return sample;
  }

  #offered(): OfferedCandidates | null {
    const { features, minimums } = this.#setUpState().job;
    if (areOff(minimums)) return null;
    const { bins, count } = this.#sample();
    return (this.#treeState().offered ??= new OfferedCandidates(minimums, features, bins, {
      id: 0,
      members: Uint32Array.from({ length: count }, (_, i) => i),
    }));
  }

  #binsOf({ features }: CandidateSet): Uint16Array[] {
    const { bins } = this.#sample();
    return Array.from(features, (feature) => bins[feature]);
  }

  /**
   * Learns who is in a node from its parent's members; the rest of the parent is the sibling. Asked again it must be
   * the same: the sums over two ways to part one node would show those over the few in which they differ.
   */
  #placeNode(node: number, message: SchemeNode): Uint32Array {
    if (message.case !== "paillier") throw new TandemError("PROTOCOL_STATE", "a node message without Paillier members");
    const { nodes } = this.#treeState();
    if (!message.value.isRoot) {
      const { parent, sibling } = message.value;
      const nodeCountMax = treeSizeMax(this.#setUpState().job).nodes;
      if (node <= parent || sibling <= parent || node === sibling || Math.max(node, sibling) >= nodeCountMax) {
        throw new TandemError(
          "PROTOCOL_STATE",
          `nodes ${node} and ${sibling} cannot be the children of node ${parent}`,
        );
      }
      const above = this.#placeOf(parent);
      const { inside, outside } = partition(above.members, message.value.members);
      if (above.isParent || nodes.has(node) || nodes.has(sibling)) {
        const isSame =
          [node, sibling].every((child) => nodes.get(child)?.parent === parent) && areEqual(this.members(node), inside);
        if (!isSame)
          throw new TandemError(
            "PROTOCOL_STATE",
            `nodes ${node} and ${sibling} are not the children of node ${parent} that they were`,
          );
        return inside;
      }
      nodes.set(node, { members: inside, depth: above.depth + 1, parent, isParent: false });
      nodes.set(sibling, { members: outside, depth: above.depth + 1, parent, isParent: false });
      above.isParent = true;
      const counted = (id: number, instances: Uint32Array): CountedNode => ({
        id,
        members: this.#sample().positions(instances),
      });
      this.#offered()?.split(parent, counted(node, inside), counted(sibling, outside));
    } else if (node !== 0) {
      throw new TandemError("PROTOCOL_STATE", `node ${node} cannot be a root`);
    }
    return this.members(node);
  }

  /**
   * Homomorphic additions: filling a bin for the first time is a copy; along the chains empty bins are added like
   * others.
   */
  #countAdditions(plan: CandidatePlan, binCounts: Uint32Array): void {
    const { ciphertextsPerInstance } = this.#setUpState();
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
    this.counts.additions += additions * ciphertextsPerInstance;
  }

  #setUpState(): SetUpState {
    if (this.#state === null) throw new TandemError("PROTOCOL_STATE", "the scheme is not set up");
    return this.#state;
  }

  #treeState(): TreeState {
    if (this.#tree === null) throw new TandemError("PROTOCOL_STATE", "no tree has begun");
    return this.#tree;
  }
}

function rootOf(members: Uint32Array): NodeInTree {
  return { members, depth: 0, parent: -1, isParent: false };
}

function areEqual(a: Uint32Array, b: Uint32Array): boolean {
  return a.length === b.length && a.every((value, i) => value === b[i]);
}

function allocated(evaluator: PublicEvaluator, count: number): ResidentVector {
  try {
    return evaluator.allocate(count);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new TandemError("PROTOCOL_STATE", `there is no memory for ${count} ciphertexts`, { cause });
  }
}
