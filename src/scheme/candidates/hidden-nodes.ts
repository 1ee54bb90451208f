/**
 * One tree at a passive party that does not know the members of nodes: every instance may be in every node. Candidates
 * keep their positions in all trees, because answers are decrypted with hints that are sent once. Minimums apply to all
 * instances, and noise is keyed by tree and node id; that of a root by the first tree with the same gradients.
 */
import { TandemError } from "../../base/error.ts";
import { noMinimums, OfferedCandidates } from "../../gbdt/split/offered-candidates.ts";
import { TreeNoise } from "../../gbdt/split/tree-noise.ts";
import type { RevealedSplits } from "../../gbdt/split/revealed-splits.ts";
import type { NodeMembers } from "../../wire/generated/tandem/v1/tandem_pb.ts";
import { type CandidateSet, TreeCandidates } from "./candidate-set.ts";
import type { HiddenTask } from "./node-task.ts";
import { firstWithSameSums } from "./same-sums.ts";
import { type PlacedNode, type TreeJob, TreeNodes } from "./tree-nodes.ts";
import type { TreeSample } from "./tree-sample.ts";

export interface HiddenTreeJob extends TreeJob {
  /** Requests name the parent and sibling of a node, because the offered candidates depend on them. */
  readonly sendsTreeShape: boolean;
  /** Per feature and candidate 1 if it is offered at any node; null: all are. */
  readonly ever: readonly Uint8Array[] | null;
}

const noInstances = new Uint32Array(0);

export class HiddenNodes extends TreeNodes {
  readonly #job: HiddenTreeJob;

  /** @param revealed what splits have revealed so far, if that is limited; every answered split is added to it */
  constructor(
    job: HiddenTreeJob,
    tree: number,
    round: number,
    sample: TreeSample,
    revealed: RevealedSplits | null = null,
  ) {
    const { features, instances, noise, ever } = job;
    const root = { id: 0, members: instances };
    super(job, sample, {
      candidates: new TreeCandidates(job, tree, 0),
      offered:
        revealed === null ? null : new OfferedCandidates(noMinimums, features, sample.bins, root, revealed, ever),
      ever,
      // The active party subtracts siblings, and so their noise: the noise of each node is drawn independently.
      noise: noise ? new TreeNoise(noise, features, round, root, { by: "number", tree, derives: false }) : null,
    });
    this.#job = job;
  }

  /** Registers a node, with its parent and sibling if the offered candidates depend on them. */
  place(node: number, message: NodeMembers | undefined): void {
    const isPlaced = message !== undefined && !message.isRoot;
    const shouldBe = this.#job.sendsTreeShape && node > 0;
    if (node >= this.nodeCountMax || (message?.members.length ?? 0) > 0 || isPlaced !== shouldBe)
      throw new TandemError(
        "PROTOCOL_STATE",
        `node ${node}: the request has members or a tree position, which this job hides`,
      );
    if (node === 0) this.isRootAsked = true;
    if (!isPlaced) return;
    const { parent, sibling } = message;
    this.checkNumbers(parent, node, sibling);
    const above = this.placed(parent);
    const interactions = this.below(parent, above, message.open);
    const { instances } = this.#job;
    if (above.isParent || this.nodes.has(node) || this.nodes.has(sibling)) {
      this.checkSame(parent, node, sibling, instances, interactions);
      return;
    }
    for (const child of [node, sibling])
      this.nodes.set(child, { members: instances, depth: above.depth + 1, parent, isParent: false, interactions });
    above.isParent = true;
    this.offers.offered?.split(parent, { id: node, members: noInstances }, { id: sibling, members: noInstances });
  }

  /** The root's gradients are those of an earlier tree's: it gets the same noise. */
  repeatRoot(tree: number): void {
    this.offers.noise?.repeatRoot(0, tree);
  }

  task(node: number): HiddenTask {
    const set = this.candidates(node);
    const { plan, groups, byPosition } = set;
    const suppressed = this.suppressed(node, set);
    const noise = this.noiseOf(node, set, suppressed);
    const inJob = this.offers.candidates.inAll(set);
    return {
      node,
      plan,
      counts: new Uint32Array(byPosition.length),
      suppressed,
      groups: this.groupsAt(node, groups),
      noise,
      inJob,
    };
  }

  protected firstAlike(node: number, set: CandidateSet, position: number, constraints: number): number {
    const uncounted = { positions: noInstances, bins: [] };
    return firstWithSameSums(this.task(node), uncounted, set, this.#job.features, position, constraints);
  }

  protected override placed(node: number): PlacedNode {
    const { instances, sendsTreeShape } = this.#job;
    if (sendsTreeShape || node >= this.nodeCountMax) return super.placed(node);
    return { members: instances, depth: 0, parent: -1, isParent: false, interactions: null };
  }
}
