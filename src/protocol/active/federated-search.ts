/**
 * The active party's split search: its own features, and the passive parties' candidates that come over the wire. The
 * same totals, the same gains and the same order of ties as in gbdt/split/centralised-search.ts, and therefore the same
 * splits, bit for bit.
 *
 * Only the smaller child of each pair travels; its sibling is the parent minus it, in integers (exact). Both travel
 * without subtraction, and where nodes of a tree may have different columns.
 *
 * @reveals passive: which instances go left and right at every split whose children are split further
 */
import { assert } from "../../base/assert.ts";
import { isSliceOver, nextSlice } from "../../base/event-loop-slice.ts";
import { bestFeatureSplit, betterSplit, type PartySplit } from "../../gbdt/split/best-split.ts";
import { partition as partitionByBin } from "../../gbdt/split/candidate.ts";
import type { TreeGain } from "../../gbdt/split/gain.ts";
import type { GrowingNode, NodePair, SplitOutcome, SplitSearch } from "../../gbdt/tree/grow.ts";
import { ruleOf } from "../../gbdt/tree/tree.ts";
import { bitmapFrom, countSet, isSet, partition } from "../../wire/bitmap.ts";
import { bestOfCandidates, type NamedCandidates } from "../../scheme/candidates/best-candidates.ts";
import type { ActiveRule, TreeTask } from "./federated-tree.ts";
import { type CandidateRows, noCandidates } from "../../scheme/candidates/candidate-rows.ts";
import { type Decision, type NodeRequest, type PeerSession, type SplitAnswer } from "./peer-session.ts";
import { siblingRows } from "../../scheme/candidates/withheld.ts";

/** A split of the active party's own, or candidates of a passive party that tie for the best gain. */
type FederatedSplit =
  | (PartySplit & { readonly kind: "own" })
  | (NamedCandidates & { readonly kind: "peer"; readonly peer: number });

type RowsByPeer = readonly CandidateRows[];

export class FederatedSearch implements SplitSearch<ActiveRule, FederatedSplit> {
  readonly #task: TreeTask;
  readonly #gain: TreeGain;
  /** Of the nodes whose children may be asked about. */
  readonly #rows = new Map<number, RowsByPeer>();

  constructor(task: TreeTask, gain: TreeGain) {
    this.#task = task;
    this.#gain = gain;
  }

  async root(root: GrowingNode): Promise<FederatedSplit | null> {
    const { sharedRoot } = this.#task;
    if (sharedRoot !== null && sharedRoot.length === this.#task.sessions.length) {
      const [own] = await this.#ownSearch([root], Promise.resolve());
      return this.#best(root, own, sharedRoot);
    }
    const request = {
      node: root.id,
      origin: null,
      instanceCount: root.instances.length,
      sampledCount: root.sampled.length,
    };
    const asked = Promise.all(
      this.#task.sessions.map(async (session, i) => {
        await this.#task.gradientsTaken[i];
        return this.#candidateRows(session, [request]);
      }),
    );
    const [own] = await this.#ownSearch([root], asked);
    const rows = (await asked).map((byNode) => byNode.get(root.id) ?? noCandidates);
    sharedRoot?.push(...rows);
    return this.#best(root, own, rows);
  }

  /** Asks every party for the smaller child of each pair, or for both, and derives what was not asked for. */
  async children(pairs: readonly NodePair[]): Promise<(FederatedSplit | null)[]> {
    const subtraction = this.#task.subtraction && this.#task.sampler.isFixedPerTree;
    const requests = pairs.flatMap((pair) => {
      const [smaller, larger] = bySize(pair);
      const request = nodeRequest(pair, smaller, larger);
      return subtraction ? [request] : [request, nodeRequest(pair, larger, smaller)];
    });
    const asked = Promise.all(this.#task.sessions.map((session) => this.#candidateRows(session, requests)));
    const nodes = pairs.flatMap(({ left, right }) => [left, right]);
    const own = await this.#ownSearch(nodes, asked);
    const byPeer = await asked;
    const found: (FederatedSplit | null)[] = [];
    for (const [i, node] of nodes.entries()) {
      const pair = pairs[i >>> 1]; // left and right of each pair, in order
      const [smaller] = bySize(pair);
      const parentRows = this.#rows.get(pair.parent.id) ?? [];
      const rows = byPeer.map(
        (byNode, peer) =>
          byNode.get(node.id) ??
          siblingRows(parentRows[peer], byNode.get(smaller.id) ?? noCandidates, this.#task.sessions[peer].name),
      );
      found.push(await this.#best(node, own[i], rows));
    }
    for (const { parent } of pairs) this.#rows.delete(parent.id);
    return found;
  }

  /** Each winner is asked once. */
  async split(
    chosen: readonly { readonly node: GrowingNode; readonly found: FederatedSplit }[],
  ): Promise<SplitOutcome<ActiveRule>[]> {
    const { tree, sessions, features } = this.#task;
    const decisions = sessions.map((): Decision[] => []);
    for (const { node, found } of chosen) {
      if (found.kind !== "peer") continue;
      const { candidates, sets, sideCounts } = found;
      const { id, instances, sampled } = node;
      decisions[found.peer].push({
        node: id,
        instanceCount: instances.length,
        candidates,
        sets,
        sideCounts: this.#task.gradients.noise === undefined ? sideCounts : null, // no count travels with noise
        sampledCount: sampled.length,
        countSampled: (bitmap) => countSampled(node, bitmap),
      });
    }
    const answers = await Promise.all(
      sessions.map((session, peer) =>
        decisions[peer].length === 0 ? new Map<number, SplitAnswer>() : session.splits(tree, decisions[peer]),
      ),
    );
    return chosen.map(({ node, found }) => {
      if (found.kind === "own") {
        const feature = features[found.feature];
        return {
          rule: ruleOf(0, found.feature, feature, found.candidate),
          monotone: feature.monotone ?? 0,
          ...partitionByBin(feature, found.candidate, node.instances),
        };
      }
      const answer = answers[found.peer].get(node.id);
      assert(answer !== undefined, "every decision is answered");
      const { inside, outside } = partition(node.instances, answer.leftMembers);
      return { rule: { owner: found.peer + 1 }, monotone: answer.monotone, left: inside, right: outside };
    });
  }

  /** The best split among the active party's own features, while others compute what `meanwhile` stands for. */
  async #ownSearch(nodes: readonly GrowingNode[], meanwhile: Promise<unknown>): Promise<(PartySplit | null)[]> {
    meanwhile.catch(() => {}); // whoever waits for it afterwards sees it
    const { tree, features, sampler, gradients } = this.#task;
    const searched: (PartySplit | null)[] = [];
    for (const { id, depth, sampled, totals, bounds } of nodes) {
      let best: PartySplit | null = null;
      for (const index of sampler.at({ tree, depth, node: id }, features.length)) {
        if (isSliceOver()) await nextSlice();
        best = betterSplit(
          best,
          bestFeatureSplit(features[index], index, gradients, sampled, totals, this.#gain, bounds),
        );
      }
      searched.push(best);
    }
    return searched;
  }

  #candidateRows(session: PeerSession, requests: readonly NodeRequest[]): Promise<Map<number, CandidateRows>> {
    const { tree, layout, waiting, decrypting } = this.#task;
    return waiting.during(() => session.histograms(tree, layout, requests, decrypting));
  }

  /** The best split of a node over all parties: the active party wins ties, then passives in config order. */
  async #best(node: GrowingNode, own: PartySplit | null, rows: RowsByPeer): Promise<FederatedSplit | null> {
    this.#rows.set(node.id, rows);
    let best: FederatedSplit | null = own && { kind: "own", ...own };
    for (const [peer, ofPeer] of rows.entries()) {
      if (isSliceOver()) await nextSlice();
      const found = bestOfCandidates(ofPeer, node.totals, this.#gain, node.bounds);
      best = betterSplit<FederatedSplit>(best, found && { kind: "peer", peer, ...found });
    }
    return best;
  }
}

function nodeRequest({ parent }: NodePair, child: GrowingNode, sibling: GrowingNode): NodeRequest {
  // Both list their instances in the same order.
  let next = 0;
  const members = bitmapFrom(parent.instances.length, (i) => {
    const isMember = parent.instances[i] === child.instances[next];
    if (isMember) next++;
    return isMember;
  });
  return {
    node: child.id,
    instanceCount: child.instances.length,
    sampledCount: child.sampled.length,
    origin: { parent: parent.id, sibling: sibling.id, members },
  };
}

/** How many of the instances that are set in a bitmap over the node's are sampled. */
function countSampled({ instances, sampled }: GrowingNode, bitmap: Uint8Array): number {
  if (sampled === instances) return countSet(bitmap, instances.length);
  let count = 0;
  let next = 0; // both ascend
  for (let i = 0; i < instances.length && next < sampled.length; i++) {
    if (instances[i] !== sampled[next]) continue;
    next++;
    if (isSet(bitmap, i)) count++;
  }
  return count;
}

function bySize({ left, right }: NodePair): [GrowingNode, GrowingNode] {
  return left.sampled.length <= right.sampled.length ? [left, right] : [right, left];
}
