/**
 * One tree at a passive party: its nodes, and which candidates the party offers there. Independent of the cipher. What
 * the party knows of a node's members depends on the training protocol: sent-nodes.ts, hidden-nodes.ts.
 *
 * Candidates with a side below the minimums are suppressed, and so are new thresholds where their number is limited
 * (gbdt/split/offered-candidates.ts).
 *
 * @reveals active: which candidates are suppressed at a pair of nodes, and so that one of their sides, or one of the
 *   nodes, is small, that a neighbour is near, that their feature has used its thresholds, or is in no open group
 */
import { TandemError } from "../../base/error.ts";
import type { BinnedFeature } from "../../gbdt/split/binning.ts";
import { candidateIndex, candidatesOf } from "../../gbdt/split/candidate.ts";
import { groupsOf, type Interactions, mayInteract } from "../../gbdt/split/interactions.ts";
import type { Minimums, OfferedCandidates } from "../../gbdt/split/offered-candidates.ts";
import type { PartyNoise, TreeNoise } from "../../gbdt/split/tree-noise.ts";
import { treeSizeMax } from "../../gbdt/tree/grow.ts";
import type { CategorySet, NodeMembers } from "../../wire/generated/tandem/v1/tandem_pb.ts";
import { tieOrder } from "./candidate-order.ts";
import type { PlannedCandidate } from "./candidate-plan.ts";
import { candidateIn, type CandidateJob, type CandidateSet, type TreeCandidates } from "./candidate-set.ts";
import { groupedCount, setFrom } from "./category-group.ts";
import type { NodeTask } from "./node-task.ts";
import { openBelow } from "./open-groups.ts";
import type { TreeSample } from "./tree-sample.ts";

export interface TreeJob extends CandidateJob {
  readonly features: readonly BinnedFeature[];
  /** All instances of the job, in their order; every root contains them. */
  readonly instances: Uint32Array;
  /** 0: no limit but maxLeaves. */
  readonly maxDepth: number;
  /** 0: no limit but maxDepth. */
  readonly maxLeaves: number;
  /** The minimums that an offered candidate must satisfy. */
  readonly minimums: Minimums;
  /** The noise added to sums; null or left out: none. */
  readonly noise?: PartyNoise | null;
}

/** A candidate, and its rank among the party's own in tie order. */
export type RankedCandidate = PlannedCandidate & { readonly rank: number };

/** A node and its sibling, and which members of their parent are in each. */
export interface Parted {
  readonly parent: number;
  readonly node: number;
  readonly sibling: number;
  /** In the node. */
  readonly inside: Uint32Array;
  /** In the sibling. */
  readonly outside: Uint32Array;
  /** The interaction groups that are open in both. */
  readonly open: number;
}

export interface PlacedNode {
  /** All instances that may be in it, sampled or not. */
  readonly members: Uint32Array;
  readonly depth: number;
  /** -1 for the root. */
  readonly parent: number;
  /** Whether its children are known. */
  isParent: boolean;
  /** The features that may split it. */
  readonly interactions: Interactions | null;
}

/** What a training protocol decides for a tree. */
export interface TreeOffers {
  readonly candidates: TreeCandidates;
  /** The candidates offered at each node; null: nothing is suppressed. */
  readonly offered: OfferedCandidates | null;
  /** Per feature and candidate 1 if it is offered at any node; null: all are. */
  readonly ever: readonly Uint8Array[] | null;
  readonly noise: TreeNoise | null;
}

/** The nodes of a tree at a passive party, and the candidates that it offers there. */
export abstract class TreeNodes {
  readonly sample: TreeSample;
  /** The root's sums were requested, in this tree or in an earlier one with the same root. */
  isRootAsked = false;
  protected readonly job: TreeJob;
  protected readonly offers: TreeOffers;
  protected readonly nodes: Map<number, PlacedNode>;
  /** Interaction groups of the features; null: no interaction constraints. */
  readonly #groups: number | null;
  /** By node, the feature by which this party split it. */
  readonly #splitBy = new Map<number, number>();

  protected constructor(job: TreeJob, sample: TreeSample, offers: TreeOffers) {
    this.sample = sample;
    this.job = job;
    this.offers = offers;
    const root: PlacedNode = { members: job.instances, depth: 0, parent: -1, isParent: false, interactions: null };
    this.nodes = new Map([[0, root]]);
    this.#groups = job.features.some(({ groups }) => groups !== undefined) ? groupsOf(job.features) : null;
  }

  /**
   * Registers a node before it is answered. A repeated request must have the same content.
   * @param admit throws if the two nodes are not acceptable; the state is then unchanged
   * @throws TandemError PROTOCOL_STATE
   */
  abstract place(node: number, message: NodeMembers | undefined, admit?: (parted: Parted) => void): void;

  /** What is summed at a node. */
  abstract task(node: number): NodeTask;

  /** The first candidate in tie order that has the same sums as the given position. */
  protected abstract firstAlike(node: number, set: CandidateSet, position: number, constraints: number): number;

  /** @throws TandemError PROTOCOL_STATE for a node that was never registered */
  protected placed(node: number): PlacedNode {
    const placed = this.nodes.get(node);
    if (placed === undefined) throw new TandemError("PROTOCOL_STATE", `node ${node} is not known in this tree`);
    return placed;
  }

  /** The groups of a feature that are open at a node; 0 in a job without interaction constraints. */
  openGroups(node: number, feature: number): number {
    const { interactions } = this.placed(node);
    return (this.job.features[feature].groups ?? 0) & (interactions === null ? -1 : interactions.open);
  }

  /** @throws TandemError PROTOCOL_STATE if open groups were sent for the children before this feature split the node
   * */
  checkSplit(node: number, feature: number): void {
    if (this.#groups !== null && this.placed(node).isParent && this.#splitBy.get(node) !== feature)
      throw new TandemError("PROTOCOL_STATE", `node ${node} was already split, and not by this split`);
  }

  /** Records a split by this party's feature, which decides the groups open below. */
  splits(node: number, feature: number): void {
    this.#splitBy.set(node, feature);
  }

  /** The features that may split the children of a node. @param open the groups open there, as bits */
  protected below(parent: number, { interactions }: PlacedNode, open: number): Interactions | null {
    if (this.#groups === null) {
      if (open !== 0) throw new TandemError("PROTOCOL_STATE", "open groups in a job without interaction constraints");
      return null;
    }
    const feature = this.#splitBy.get(parent);
    const splitBy = feature === undefined ? null : { feature, groups: this.job.features[feature].groups ?? 0 };
    return openBelow(interactions, open, this.#groups, splitBy);
  }

  /** @throws TandemError PROTOCOL_STATE unless they may be a node and its children, of which one was requested */
  checkDerived(parent: number, node: number, sibling: number): void {
    this.checkNumbers(parent, node, sibling);
  }

  protected checkNumbers(parent: number, node: number, sibling: number): void {
    if (node <= parent || sibling <= parent || node === sibling || Math.max(node, sibling) >= this.nodeCountMax)
      throw new TandemError("PROTOCOL_STATE", `nodes ${node} and ${sibling} cannot be the children of node ${parent}`);
  }

  /** The instances that may be in a node. @throws TandemError PROTOCOL_STATE for a node that was never registered */
  members(node: number): Uint32Array {
    return this.placed(node).members;
  }

  /** The candidates of a node. */
  candidates(node: number): CandidateSet {
    return this.offers.candidates.at({ node, depth: this.placed(node).depth });
  }

  /** Per candidate, in the node's order, 1 if it is suppressed. */
  protected suppressed(node: number, set: CandidateSet): Uint8Array {
    const suppressed = new Uint8Array(set.byPosition.length);
    const isFree = this.placed(node).interactions === null;
    if (this.offers.offered === null && this.offers.ever === null && isFree) return suppressed;
    return suppressed.map((_, position) => (this.#isOffered(node, candidateIn(set, position)) ? 0 : 1));
  }

  /**
   * The ranks of the node's candidates in tie order, without names. Repeated calls return the same answer.
   * @throws TandemError PROTOCOL_STATE if the sums of the node and its sibling were not requested before; and in a
   * job with noise, where the order would link candidates from tree to tree
   */
  order(node: number): Uint32Array {
    if (this.offers.noise !== null || this.job.isInTieOrder === true)
      throw new TandemError(
        "PROTOCOL_STATE",
        "a job with noise or hidden sums does not reveal the order of candidates",
      );
    this.placed(node);
    if (node === 0 && !this.isRootAsked)
      throw new TandemError("PROTOCOL_STATE", "the order of candidates was requested before their sums");
    const set = this.candidates(node);
    return tieOrder(set, this.suppressed(node, set));
  }

  /** Per candidate, in the node's order, and slot: with the sign of the summed side. */
  protected noiseOf(node: number, { plan, byPosition }: CandidateSet, suppressed: Uint8Array): Float64Array | null {
    const noise = this.offers.noise;
    const slotCount = this.job.noise?.slotCount ?? 0;
    if (noise === null) return null;
    const added = new Float64Array(suppressed.length * slotCount);
    byPosition.forEach((rank, position) => {
      if (suppressed[position] === 1) return;
      const candidate = plan.candidates[rank];
      const ofFeature = noise.of(node, candidate.feature);
      const index = candidateIndex(this.job.features[candidate.feature], candidate);
      for (let slot = 0; slot < slotCount; slot++)
        added[position * slotCount + slot] = plan.sides[position] * ofFeature[index * slotCount + slot];
    });
    return added;
  }

  /**
   * A node's candidate at a position of the secret order.
   * @throws TandemError PROTOCOL_STATE if it does not exist or is suppressed
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
      throw new TandemError("PROTOCOL_STATE", `candidate ${position} is suppressed at node ${node}`);
    }
    return candidate;
  }

  /**
   * The candidate that a named position stands for: with noise, the first in tie order that has the same sums.
   * @param constraints the monotone constraints that this candidate may have (same-sums.ts)
   * @throws TandemError PROTOCOL_STATE if it does not exist or is suppressed
   */
  namedAt(node: number, position: number, constraints: number): RankedCandidate {
    const candidate = this.candidateAt(node, position);
    if (this.offers.noise === null) return candidate;
    const set = this.candidates(node);
    return candidateIn(set, this.firstAlike(node, set, position, constraints));
  }

  /**
   * A category set of one of a node's groups.
   * @throws TandemError PROTOCOL_STATE if the set does not exist, or one of its categories is suppressed
   */
  setAt(node: number, message: CategorySet): RankedCandidate {
    const group = this.candidates(node).groups[message.group];
    if (group === undefined) {
      throw new TandemError("PROTOCOL_STATE", `node ${node} has no category group ${message.group}`);
    }
    const [placed] = this.groupsAt(node, [group]);
    const { feature, firstRank } = placed;
    const parts = candidatesOf(this.job.features[feature]);
    const isSuppressed = (place: number): boolean => !this.#isOffered(node, { feature, ...parts[place] });
    return { feature, rank: firstRank, ...setFrom(message, placed, isSuppressed) };
  }

  /** The category groups with their pieces at a node. */
  protected groupsAt<G extends CandidateSet["groups"][number]>(node: number, groups: readonly G[]): readonly G[] {
    const { offered } = this.offers;
    if (offered === null) return groups;
    return groups.map((group) => {
      const pieces = offered.pieces(node, group.feature);
      return pieces === null ? group : { ...group, pieces: Array.from(pieces) };
    });
  }

  protected checkSame(
    parent: number,
    node: number,
    sibling: number,
    members: Uint32Array,
    interactions: Interactions | null,
  ): void {
    const areChildren = [node, sibling].every((child) => this.nodes.get(child)?.parent === parent);
    const isOpenAlike = this.nodes.get(node)?.interactions?.open === interactions?.open;
    if (areChildren && isOpenAlike && areEqual(this.members(node), members)) return;
    throw new TandemError(
      "PROTOCOL_STATE",
      `nodes ${node} and ${sibling} differ from the earlier children of node ${parent}`,
    );
  }

  protected get nodeCountMax(): number {
    return treeSizeMax(this.job).nodes;
  }

  #isOffered(node: number, candidate: PlannedCandidate): boolean {
    const { feature } = candidate;
    const ever = this.offers.ever?.[feature][candidateIndex(this.job.features[feature], candidate)] !== 0;
    const isOpen = mayInteract(this.placed(node).interactions, 0, feature, this.job.features[feature].groups);
    return ever && isOpen && this.offers.offered?.has(node, feature, candidate) !== false;
  }
}

function areEqual(a: Uint32Array, b: Uint32Array): boolean {
  return a.length === b.length && a.every((value, i) => value === b[i]);
}
