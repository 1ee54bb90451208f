/**
 * One tree at a passive party: who is sampled, who is in which node, and which candidates it offers there. No cipher is
 * in it.
 *
 * Candidates of small groups are withheld where there are minimums, and those of new thresholds where the job may use
 * only so many (gbdt/split/offered-candidates.ts).
 *
 * @reveals active: which candidates are withheld at a pair of nodes, and so that one of their sides, or one of the
 * nodes, is small, that a neighbour is near, that their feature has used its thresholds, or is in no open group
 */
import { TandemError } from "../../base/error.ts";
import type { BinnedFeature } from "../../gbdt/split/binning.ts";
import { candidateIndex, candidatesOf } from "../../gbdt/split/candidate.ts";
import {
  areOff,
  type CountedNode,
  type Minimums,
  noMinimums,
  OfferedCandidates,
} from "../../gbdt/split/offered-candidates.ts";
import { type NoiseNames, type PartyNoise, type SummedNode, TreeNoise } from "../../gbdt/split/tree-noise.ts";
import type { UsedThresholds } from "../../gbdt/split/used-thresholds.ts";
import { groupsOf, type Interactions, mayInteract } from "../../gbdt/split/interactions.ts";
import { treeSizeMax } from "../../gbdt/tree/grow.ts";
import { partition } from "../../wire/bitmap.ts";
import type { CategorySet, NodeMembers } from "../../wire/generated/tandem/v1/tandem_pb.ts";
import { binCountsOf, type PlannedCandidate, sideCounts } from "./candidate-plan.ts";
import { candidateIn, type CandidateJob, type CandidateSet, TreeCandidates } from "./candidate-set.ts";
import { groupedCount, setFrom } from "./category-group.ts";
import { orderOf } from "./candidate-order.ts";
import type { NodeTask } from "./node-task.ts";
import type { HiddenMembers } from "./hidden-members.ts";
import { openBelow } from "./open-groups.ts";
import { firstWithSameSums } from "./same-sums.ts";
import type { TreeSample } from "./tree-sample.ts";

export interface TreeJob extends CandidateJob {
  readonly features: readonly BinnedFeature[];
  /** All of the job, in their order: they are in every root. */
  readonly instances: Uint32Array;
  /** 0: no limit but maxLeaves. */
  readonly maxDepth: number;
  /** 0: no limit but maxDepth. */
  readonly maxLeaves: number;
  /** What must be offered at least, or is withheld. */
  readonly minimums: Minimums;
  /** What is added to sums; null or left out: nothing. */
  readonly noise?: PartyNoise | null;
  /** Nobody tells who is in a node (hidden-members.ts); null or left out: members are told. */
  readonly hidden?: HiddenMembers | null;
}

/** A candidate, and where it stands among the party's own in tie order. */
export type RankedCandidate = PlannedCandidate & { readonly rank: number };

/** Two nodes, and who of their parent is in which. */
export interface Parted {
  readonly parent: number;
  readonly node: number;
  readonly sibling: number;
  /** In the node. */
  readonly inside: Uint32Array;
  /** In the sibling. */
  readonly outside: Uint32Array;
  /** Interaction groups that are open in both. */
  readonly open: number;
}

interface PlacedNode {
  /** All instances, sampled or not. */
  readonly members: Uint32Array;
  readonly depth: number;
  /** -1 for the root. */
  readonly parent: number;
  /** Its children are known. */
  isParent: boolean;
  /** What may split it. */
  readonly interactions: Interactions | null;
}

/** The nodes of a tree at a passive party: their members, and the candidates that it offers there. */
export class TreeNodes {
  readonly sample: TreeSample;
  /** The root's sums were asked for, in this tree or in one before it that has the same. */
  isRootAsked = false;
  readonly #job: TreeJob;
  readonly #candidates: TreeCandidates;
  readonly #nodes: Map<number, PlacedNode>;
  /** What is offered at which node; null where nothing is withheld. */
  readonly #offered: OfferedCandidates | null;
  readonly #noise: TreeNoise | null;
  /** Interaction groups of the features; null: the job has none. */
  readonly #groups: number | null;
  /** By node the feature that this party has split it by. */
  readonly #splitBy = new Map<number, number>();

  /**
   * @param round the trees of a round share their secret order, so that they can share what is known of the root
   * @param used what the job's splits have used so far, where that is limited; whoever answers a split adds to it
   */
  constructor(job: TreeJob, tree: number, round: number, sample: TreeSample, used: UsedThresholds | null = null) {
    this.sample = sample;
    this.#job = job;
    // Where members are hidden a candidate has the same place in all trees: its answers are opened by what was told of
    // it once.
    this.#candidates = new TreeCandidates(job, tree, job.hidden ? 0 : round);
    const root: PlacedNode = { members: job.instances, depth: 0, parent: -1, isParent: false, interactions: null };
    this.#nodes = new Map([[0, root]]);
    this.#groups = job.features.some(({ groups }) => groups !== undefined) ? groupsOf(job.features) : null;
    const { minimums, features } = job;
    const withholds = (!areOff(minimums) && !job.hidden) || used !== null;
    const counted = (): CountedNode => ({ id: 0, members: Uint32Array.from({ length: sample.count }, (_, i) => i) });
    this.#offered = withholds
      ? new OfferedCandidates(job.hidden ? noMinimums : minimums, features, sample.bins, counted(), used)
      : null;
    this.#noise = job.noise
      ? new TreeNoise(job.noise, job.features, round, this.#summed(0, job.instances), namesOf(job, tree))
      : null;
  }

  /**
   * Learns who is in a node from its parent's members; the rest of the parent is the sibling. Asked again it must be
   * the same: the sums over two ways to part one node would show those over the few in which they differ.
   * @param admit throws where two nodes must not be these; nothing is changed then
   * @throws TandemError PROTOCOL_STATE
   */
  place(node: number, message: NodeMembers | undefined, admit: (parted: Parted) => void = () => {}): void {
    if (this.#job.hidden) return this.#placeHidden(node, message, this.#job.hidden);
    if (message === undefined) throw new TandemError("PROTOCOL_STATE", `nobody says who is in node ${node}`);
    if (message.isRoot) {
      if (node !== 0) throw new TandemError("PROTOCOL_STATE", `node ${node} cannot be a root`);
      this.isRootAsked = true;
      return;
    }
    const { parent, sibling } = message;
    this.#checkNumbers(parent, node, sibling);
    const above = this.#placed(parent);
    const { inside, outside } = partition(above.members, message.members);
    const interactions = this.#below(parent, above, message.open);
    if (above.isParent || this.#nodes.has(node) || this.#nodes.has(sibling)) {
      this.#checkSame(parent, node, sibling, inside, interactions);
      return;
    }
    // Children of the last level are leaves: nobody may ask for them.
    if (this.#job.maxDepth > 0 && above.depth + 1 >= this.#job.maxDepth)
      throw new TandemError("PROTOCOL_STATE", `nodes ${node} and ${sibling} are deeper than a tree of this job`);
    admit({ parent, node, sibling, inside, outside, open: message.open });
    const place = { depth: above.depth + 1, parent, interactions };
    this.#nodes.set(node, { members: inside, isParent: false, ...place });
    this.#nodes.set(sibling, { members: outside, isParent: false, ...place });
    above.isParent = true;
    this.#offered?.split(parent, this.#counted(node, inside), this.#counted(sibling, outside));
    this.#noise?.split(parent, this.#summed(node, inside), this.#summed(sibling, outside));
  }

  /** Learns no more of a node than its number, and where it stands if what is offered there depends on that. */
  #placeHidden(node: number, message: NodeMembers | undefined, { sendsTreeShape }: HiddenMembers): void {
    const isPlaced = message !== undefined && !message.isRoot;
    if (node >= this.#nodeCountMax || (message?.members.length ?? 0) > 0 || isPlaced !== (sendsTreeShape && node > 0))
      throw new TandemError("PROTOCOL_STATE", `node ${node} is told in a way that this job does not know`);
    if (node === 0) this.isRootAsked = true;
    if (!isPlaced) return;
    const { parent, sibling } = message;
    this.#checkNumbers(parent, node, sibling);
    const above = this.#placed(parent);
    const interactions = this.#below(parent, above, message.open);
    const { instances } = this.#job;
    if (above.isParent || this.#nodes.has(node) || this.#nodes.has(sibling)) {
      this.#checkSame(parent, node, sibling, instances, interactions);
      return;
    }
    for (const child of [node, sibling])
      this.#nodes.set(child, { members: instances, depth: above.depth + 1, parent, isParent: false, interactions });
    above.isParent = true;
    const nobody = new Uint32Array(0);
    this.#offered?.split(parent, { id: node, members: nobody }, { id: sibling, members: nobody });
  }

  #below(parent: number, { interactions }: PlacedNode, told: number): Interactions | null {
    if (this.#groups === null) {
      if (told !== 0) throw new TandemError("PROTOCOL_STATE", "open groups in a job without groups");
      return null;
    }
    const feature = this.#splitBy.get(parent);
    const splitBy = feature === undefined ? null : { feature, groups: this.#job.features[feature].groups ?? 0 };
    return openBelow(interactions, told, this.#groups, splitBy);
  }

  /** The groups of a feature that are open at a node; 0 in a job without groups. */
  openGroups(node: number, feature: number): number {
    const { interactions } = this.#placed(node);
    return (this.#job.features[feature].groups ?? 0) & (interactions === null ? -1 : interactions.open);
  }

  /** @throws TandemError PROTOCOL_STATE where groups were said to be open below a node before this feature split it */
  checkSplit(node: number, feature: number): void {
    if (this.#groups !== null && this.#placed(node).isParent && this.#splitBy.get(node) !== feature)
      throw new TandemError("PROTOCOL_STATE", `node ${node} was parted before, and not by this split`);
  }

  /** This party's feature splits a node: that decides which groups are open below. */
  splits(node: number, feature: number): void {
    this.#splitBy.set(node, feature);
  }

  #checkNumbers(parent: number, node: number, sibling: number): void {
    if (node <= parent || sibling <= parent || node === sibling || Math.max(node, sibling) >= this.#nodeCountMax)
      throw new TandemError("PROTOCOL_STATE", `nodes ${node} and ${sibling} cannot be the children of node ${parent}`);
  }

  /** The instances that are in a node. @throws TandemError PROTOCOL_STATE for a node that was never placed */
  members(node: number): Uint32Array {
    return this.#placed(node).members;
  }

  /** What is summed at a node. */
  task(node: number): NodeTask {
    return this.#task(node);
  }

  #task(node: number): NodeTask {
    const set = this.candidates(node);
    const { features, plan, groups } = set;
    if (this.#job.hidden) return this.#hiddenTask(node, set);
    const positions = this.sample.positions(this.members(node));
    const bins = this.binsOf(set);
    const binCounts = binCountsOf(bins, plan, positions);
    const counts = sideCounts(plan, binCounts);
    const withheld = this.#withheld(node, set);
    withheld.forEach((isWithheld, position) => {
      if (isWithheld === 1) counts[position] = 0;
    });
    const noise = this.#noiseOf(node, set, withheld);
    return { node, positions, features, bins, plan, binCounts, counts, withheld, groups, noise, inJob: null };
  }

  /** Everybody is summed, and nobody counted. */
  #hiddenTask(node: number, set: CandidateSet): NodeTask {
    const { features, plan, groups, byPosition } = set;
    const withheld = this.#withheld(node, set);
    const none = new Uint32Array(0);
    const counts = new Uint32Array(byPosition.length);
    const inJob = this.#candidates.inAll(set);
    const noise = this.#noiseOf(node, set, withheld);
    const task = { node, positions: none, features, bins: [], plan, binCounts: none };
    return { ...task, counts, withheld, groups, noise, inJob };
  }

  /** Per candidate, in the node's order, 1 if it is withheld. */
  #withheld(node: number, set: CandidateSet): Uint8Array {
    const withheld = new Uint8Array(set.byPosition.length);
    const isFree = this.#placed(node).interactions === null;
    if (this.#offered === null && !this.#job.hidden?.offered && isFree) return withheld;
    return withheld.map((_, position) => (this.#isOffered(node, candidateIn(set, position)) ? 0 : 1));
  }

  /**
   * Where the node's candidates stand in tie order, without names. The same answer every time.
   * @throws TandemError PROTOCOL_STATE where its sums, and its sibling's, were not asked for; and in a job with noise,
   * which hides what the order would link from tree to tree
   */
  order(node: number): Uint32Array {
    if (this.#noise !== null) throw new TandemError("PROTOCOL_STATE", "a job with noise tells no order of candidates");
    this.#placed(node);
    if (node === 0 && !this.isRootAsked)
      throw new TandemError("PROTOCOL_STATE", "the order of candidates is told after their sums");
    const set = this.candidates(node);
    return orderOf(set, this.#withheld(node, set));
  }

  /** Per candidate, in the node's order, and slot: with the sign of the side that is summed. */
  #noiseOf(node: number, { plan, byPosition }: CandidateSet, withheld: Uint8Array): Float64Array | null {
    const noise = this.#noise;
    const slotCount = this.#job.noise?.slotCount ?? 0;
    if (noise === null) return null;
    const added = new Float64Array(withheld.length * slotCount);
    byPosition.forEach((rank, position) => {
      if (withheld[position] === 1) return;
      const candidate = plan.candidates[rank];
      const ofFeature = noise.of(node, candidate.feature);
      const index = candidateIndex(this.#job.features[candidate.feature], candidate);
      for (let slot = 0; slot < slotCount; slot++)
        added[position * slotCount + slot] = plan.sides[position] * ofFeature[index * slotCount + slot];
    });
    return added;
  }

  /** The candidates of a node, whoever is in it. */
  candidates(node: number): CandidateSet {
    return this.#candidates.at({ node, depth: this.#placed(node).depth });
  }

  /** Per feature of a set the bin at each place of the sample. */
  binsOf({ features }: CandidateSet): Uint16Array[] {
    return Array.from(features, (feature) => this.sample.bins[feature]);
  }

  /**
   * A node's candidate at a position of the secret order.
   * @throws TandemError PROTOCOL_STATE if it does not exist or is withheld
   */
  candidateAt(node: number, position: number): RankedCandidate {
    const set = this.candidates(node);
    if (position >= set.byPosition.length) {
      throw new TandemError("PROTOCOL_STATE", `candidate ${position} does not exist`);
    }
    if (position < groupedCount(set.groups)) {
      throw new TandemError("PROTOCOL_STATE", `candidate ${position} is a category, not a split`);
    }
    const candidate = candidateIn(set, position);
    if (!this.#isOffered(node, candidate)) {
      throw new TandemError("PROTOCOL_STATE", `candidate ${position} is withheld at node ${node}`);
    }
    return candidate;
  }

  /**
   * The candidate that a position stands for where it is named: with noise the first in tie order that has its sums.
   * @param constraints which monotone constraints that one may have (same-sums.ts)
   * @throws TandemError PROTOCOL_STATE if it does not exist or is withheld
   */
  namedAt(node: number, position: number, constraints: number): RankedCandidate {
    const candidate = this.candidateAt(node, position);
    if (this.#noise === null) return candidate;
    const set = this.candidates(node);
    return candidateIn(set, firstWithSameSums(this.#task(node), set, this.#job.features, position, constraints));
  }

  /**
   * A set of categories of one of a node's groups.
   * @throws TandemError PROTOCOL_STATE if there is no such set, or something of it is withheld
   */
  setAt(node: number, message: CategorySet): RankedCandidate {
    const group = this.candidates(node).groups[message.group];
    if (group === undefined) {
      throw new TandemError("PROTOCOL_STATE", `node ${node} has no group ${message.group} of categories`);
    }
    const { feature, firstRank } = group;
    const parts = candidatesOf(this.#job.features[feature]);
    const isWithheld = (place: number): boolean => !this.#isOffered(node, { feature, ...parts[place] });
    return { feature, rank: firstRank, ...setFrom(message, group, isWithheld) };
  }

  get #nodeCountMax(): number {
    return treeSizeMax(this.#job).nodes;
  }

  #checkSame(
    parent: number,
    node: number,
    sibling: number,
    members: Uint32Array,
    interactions: Interactions | null,
  ): void {
    const areChildren = [node, sibling].every((child) => this.#nodes.get(child)?.parent === parent);
    const isOpenAlike = this.#nodes.get(node)?.interactions?.open === interactions?.open;
    if (areChildren && isOpenAlike && areEqual(this.members(node), members)) return;
    throw new TandemError(
      "PROTOCOL_STATE",
      `nodes ${node} and ${sibling} are not the children of node ${parent} that they were`,
    );
  }

  #isOffered(node: number, candidate: PlannedCandidate): boolean {
    const { feature } = candidate;
    const ever = this.#job.hidden?.offered?.[feature][candidateIndex(this.#job.features[feature], candidate)] !== 0;
    const isOpen = mayInteract(this.#placed(node).interactions, 0, feature, this.#job.features[feature].groups);
    return ever && isOpen && this.#offered?.has(node, feature, candidate) !== false;
  }

  #counted(id: number, instances: Uint32Array): CountedNode {
    return { id, members: this.sample.positions(instances) };
  }

  #summed(id: number, instances: Uint32Array): SummedNode {
    return { id, members: this.sample.sampled(instances) };
  }

  #placed(node: number): PlacedNode {
    const { hidden, instances } = this.#job;
    const isAnywhere = hidden && !hidden.sendsTreeShape && node < this.#nodeCountMax;
    if (isAnywhere) return { members: instances, depth: 0, parent: -1, isParent: false, interactions: null };
    const placed = this.#nodes.get(node);
    if (placed === undefined) throw new TandemError("PROTOCOL_STATE", `node ${node} is not known in this tree`);
    return placed;
  }
}

/** Whatever is derived of an answer is derived by whoever asked. */
function namesOf({ hidden }: TreeJob, tree: number): NoiseNames {
  return hidden ? { by: "number", tree, serial: hidden.serial(), derives: false } : { by: "members" };
}

function areEqual(a: Uint32Array, b: Uint32Array): boolean {
  return a.length === b.length && a.every((value, i) => value === b[i]);
}
