/**
 * One tree at a passive party that is sent the members of each node. Noise is keyed by the summed instances, and
 * minimums apply at every node.
 */
import { TandemError } from "../../base/error.ts";
import { areOff, type CountedNode, OfferedCandidates } from "../../gbdt/split/offered-candidates.ts";
import { type SummedNode, TreeNoise } from "../../gbdt/split/tree-noise.ts";
import type { RevealedSplits } from "../../gbdt/split/revealed-splits.ts";
import { partition } from "../../wire/bitmap.ts";
import type { NodeMembers } from "../../wire/generated/tandem/v1/tandem_pb.ts";
import { countBins, sideCounts } from "./candidate-plan.ts";
import { type CandidateSet, TreeCandidates } from "./candidate-set.ts";
import type { SentTask } from "./node-task.ts";
import { firstWithSameSums } from "./same-sums.ts";
import { type Parted, type TreeJob, TreeNodes, type TreeOffers } from "./tree-nodes.ts";
import type { TreeSample } from "./tree-sample.ts";

/** The nodes of a tree at a passive party that knows their members, and the candidates that it offers there. */
export class SentNodes extends TreeNodes {
  /**
   * @param round the trees of a round share their secret order, so that they can share the root's answers
   * @param revealed what splits have revealed so far, if that is limited; every answered split is added to it
   */
  constructor(job: TreeJob, tree: number, round: number, sample: TreeSample, revealed: RevealedSplits | null = null) {
    super(job, sample, offersOf(job, tree, round, sample, revealed));
  }

  /**
   * Registers the members of a node; the parent's other members form the sibling. A node may be split in one way only:
   * the sums of two different splits of the same node would reveal the sums over the few instances in which they
   * differ.
   */
  place(node: number, message: NodeMembers | undefined, admit: (parted: Parted) => void = () => {}): void {
    if (message === undefined) throw new TandemError("PROTOCOL_STATE", `node ${node} has no members`);
    if (message.isRoot) {
      if (node !== 0) throw new TandemError("PROTOCOL_STATE", `node ${node} cannot be a root`);
      this.isRootAsked = true;
      return;
    }
    const { parent, sibling } = message;
    this.checkNumbers(parent, node, sibling);
    const above = this.placed(parent);
    const { inside, outside } = partition(above.members, message.members);
    const interactions = this.below(parent, above, message.open);
    if (above.isParent || this.nodes.has(node) || this.nodes.has(sibling)) {
      this.checkSame(parent, node, sibling, inside, interactions);
      return;
    }
    // Children of the last level are leaves and may not be requested.
    if (this.job.maxDepth > 0 && above.depth + 1 >= this.job.maxDepth)
      throw new TandemError("PROTOCOL_STATE", `nodes ${node} and ${sibling} exceed max_depth of this job`);
    admit({ parent, node, sibling, inside, outside, open: message.open });
    const place = { depth: above.depth + 1, parent, interactions };
    this.nodes.set(node, { members: inside, isParent: false, ...place });
    this.nodes.set(sibling, { members: outside, isParent: false, ...place });
    above.isParent = true;
    const { offered, noise } = this.offers;
    offered?.split(parent, counted(this.sample, node, inside), counted(this.sample, sibling, outside));
    noise?.split(parent, summed(this.sample, node, inside), summed(this.sample, sibling, outside));
  }

  override checkDerived(parent: number, node: number, sibling: number): void {
    super.checkDerived(parent, node, sibling);
    if ([node, sibling].some((child) => this.placed(child).parent !== parent))
      throw new TandemError("PROTOCOL_STATE", `nodes ${node} and ${sibling} are not the children of node ${parent}`);
  }

  task(node: number): SentTask {
    const set = this.candidates(node);
    const { features, plan, groups } = set;
    const positions = this.sample.positions(this.members(node));
    const bins = Array.from(features, (feature) => this.sample.bins[feature]);
    const binCounts = countBins(bins, plan, positions);
    const counts = sideCounts(plan, binCounts);
    const suppressed = this.suppressed(node, set);
    suppressed.forEach((isSuppressed, position) => {
      if (isSuppressed === 1) counts[position] = 0;
    });
    const noise = this.noiseOf(node, set, suppressed);
    return {
      node,
      positions,
      features,
      bins,
      plan,
      binCounts,
      counts,
      suppressed,
      groups: this.groupsAt(node, groups),
      noise,
    };
  }

  protected firstAlike(node: number, set: CandidateSet, position: number, constraints: number): number {
    const task = this.task(node);
    return firstWithSameSums(task, task, set, this.job.features, position, constraints);
  }
}

function offersOf(
  job: TreeJob,
  tree: number,
  round: number,
  sample: TreeSample,
  revealed: RevealedSplits | null,
): TreeOffers {
  const { minimums, features, instances } = job;
  const root = (): CountedNode => ({ id: 0, members: Uint32Array.from({ length: sample.count }, (_, i) => i) });
  return {
    candidates: new TreeCandidates(job, tree, round),
    offered:
      areOff(minimums) && revealed === null
        ? null
        : new OfferedCandidates(minimums, features, sample.bins, root(), revealed),
    ever: null,
    noise: job.noise ? new TreeNoise(job.noise, features, round, summed(sample, 0, instances)) : null,
  };
}

function counted(sample: TreeSample, id: number, instances: Uint32Array): CountedNode {
  return { id, members: sample.positions(instances) };
}

function summed(sample: TreeSample, id: number, instances: Uint32Array): SummedNode {
  return { id, members: sample.sampled(instances) };
}
