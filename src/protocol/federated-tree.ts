/**
 * Grows one tree over several parties (Algorithm 1), level by level. It is gbdt/grow.ts with the passive parties'
 * candidates coming over the wire: the same totals, the same gain function, the same order of ties and of node ids, and
 * therefore the same tree, bit for bit.
 *
 * Only the smaller child of each pair travels; its sibling is the parent minus it, in integers (exact). Without
 * subtraction both travel.
 *
 * @reveals passive: which instances go left and right at every split whose children are split further
 */
import { isTurnOver, nextTurn } from "../base/event-loop-turn.ts";
import type { QuantisedGradients } from "../base/quantised-gradients.ts";
import type { GradientLayout } from "../codec/layout.ts";
import { bestFeatureSplit, betterSplit, type PartySplit, selectBest } from "../gbdt/best-split.ts";
import type { BinnedFeature } from "../gbdt/binning.ts";
import { binGoesLeft } from "../gbdt/candidate.ts";
import { candidateGains, isWorthSplitting } from "../gbdt/gain.ts";
import { coverOf, type GrowParameters, makeLeaf } from "../gbdt/grow.ts";
import { nodeTotals, subtractRows } from "../gbdt/histogram.ts";
import type { SplitRule, Tree, TreeNode } from "../gbdt/tree.ts";
import { bitmapFrom, isSet, partition } from "./bitmap.ts";
import type { BusyClock } from "./busy-clock.ts";
import type { Decision, NodeRequest, PeerSession } from "./peer-session.ts";

/** What the active party knows of a passive party's split: whose it is. */
export interface RemoteRule {
  readonly owner: number;
}

/** The active party's share of a split: the whole rule if it is its own. */
export type ActiveRule = SplitRule | RemoteRule;

export function isOwnRule(rule: ActiveRule): rule is SplitRule {
  return "feature" in rule;
}

export interface TreeTask {
  readonly tree: number;
  readonly features: readonly BinnedFeature[];
  readonly gradients: QuantisedGradients;
  readonly layout: GradientLayout;
  readonly parameters: GrowParameters;
  /** Derive the larger child of a pair from its parent instead of asking for it. */
  readonly subtraction: boolean;
  readonly sessions: readonly PeerSession[];
  /** Settles per session when the party has taken all gradients. */
  readonly gradientsTaken: readonly Promise<void>[];
  /** Time spent waiting for candidate sums, and within it decrypting them. */
  readonly waiting: BusyClock;
  readonly decrypting: BusyClock;
}

export interface FederatedTree {
  readonly tree: Tree<ActiveRule>;
  /** Per instance the id of its leaf. */
  readonly leaves: Uint32Array;
}

interface LevelNode {
  readonly id: number;
  readonly instances: Uint32Array;
  readonly totals: Float64Array;
  /** The best split among the active party's own features, found while the passive parties compute. */
  readonly own: PartySplit | null;
  /** Per session one row per candidate. */
  readonly rows: readonly Float64Array[];
}

/** Two children on their way to the next level. */
interface ChildPair {
  readonly parent: LevelNode;
  /** Over the parent's instances. */
  readonly leftMembers: Uint8Array;
  readonly left: Child;
  readonly right: Child;
}

interface Child {
  readonly id: number;
  readonly instances: Uint32Array;
}

interface Choice {
  readonly gain: number;
  readonly source: { readonly kind: "own"; readonly split: PartySplit } | { readonly kind: "peer"; readonly peer: number; readonly candidates: number[] };
}

export async function growFederatedTree(task: TreeTask): Promise<FederatedTree> {
  const { gradients, parameters } = task;
  const nodes: TreeNode<ActiveRule>[] = [];
  const leaves = new Uint32Array(gradients.instanceCount);
  const addLeaf = (id: number, instances: Uint32Array): void => {
    nodes[id] = makeLeaf(gradients, nodeTotals(gradients, instances), parameters);
    for (const instance of instances) leaves[instance] = id;
  };

  let nextId = 1;
  let level = [await rootOf(task)];
  for (let depth = 0; level.length > 0; depth++) {
    const choices: (Choice | null)[] = [];
    for (const node of level) choices.push(await bestOf(task, node));
    const bitmaps = await leftBitmaps(task, level, choices);
    const pairs: ChildPair[] = [];
    level.forEach((parent, i) => {
      const choice = choices[i];
      const bitmap = bitmaps[i];
      if (choice === null || bitmap === null) {
        addLeaf(parent.id, parent.instances);
        return;
      }
      const { inside, outside } = partition(parent.instances, bitmap);
      const pair = { parent, leftMembers: bitmap, left: { id: nextId, instances: inside }, right: { id: nextId + 1, instances: outside } };
      nextId += 2;
      nodes[parent.id] = {
        kind: "split",
        left: pair.left.id,
        right: pair.right.id,
        gain: choice.gain,
        cover: coverOf(gradients, parent.totals),
        count: parent.instances.length,
        rule: ruleOf(task, choice),
      };
      pairs.push(pair);
    });
    if (depth + 1 < parameters.maxDepth) {
      level = await nextLevel(task, pairs);
    } else {
      for (const { left, right } of pairs) for (const child of [left, right]) addLeaf(child.id, child.instances);
      level = [];
    }
  }
  return { tree: nodes, leaves };
}

async function rootOf(task: TreeTask): Promise<LevelNode> {
  const instances = Uint32Array.from({ length: task.gradients.instanceCount }, (_, i) => i);
  const request = { node: 0, origin: null, instanceCount: instances.length };
  const asked = Promise.all(
    task.sessions.map(async (session, i) => {
      await task.gradientsTaken[i];
      return candidateRows(task, session, [request]);
    }),
  );
  const [root] = await ownSearch(task, [{ id: 0, instances }], asked);
  return { ...root, rows: (await asked).map((byNode) => rowsOf(byNode, 0)) };
}

/** Totals and the best own split of nodes, while others compute what `meanwhile` stands for. */
async function ownSearch(task: TreeTask, nodes: readonly Child[], meanwhile: Promise<unknown>): Promise<Omit<LevelNode, "rows">[]> {
  meanwhile.catch(() => {}); // whoever waits for it afterwards sees it
  const searched: Omit<LevelNode, "rows">[] = [];
  for (const { id, instances } of nodes) {
    const totals = nodeTotals(task.gradients, instances);
    searched.push({ id, instances, totals, own: await bestOwnSplit(task, instances, totals) });
  }
  return searched;
}

async function bestOwnSplit({ features, gradients, parameters }: TreeTask, instances: Uint32Array, totals: Float64Array): Promise<PartySplit | null> {
  let best: PartySplit | null = null;
  for (const [index, feature] of features.entries()) {
    if (isTurnOver()) await nextTurn();
    best = betterSplit(best, bestFeatureSplit(feature, index, gradients, instances, totals, parameters));
  }
  return best;
}

/** Asks every party for the smaller child of each pair, or for both, and derives what was not asked for. */
async function nextLevel(task: TreeTask, pairs: readonly ChildPair[]): Promise<LevelNode[]> {
  if (pairs.length === 0) return [];
  const requests = pairs.flatMap((pair) => {
    const [smaller, larger] = bySize(pair);
    return task.subtraction ? [nodeRequest(pair, smaller, larger)] : [nodeRequest(pair, smaller, larger), nodeRequest(pair, larger, smaller)];
  });
  const asked = Promise.all(task.sessions.map((session) => candidateRows(task, session, requests)));
  const children = await ownSearch(task, pairs.flatMap(({ left, right }) => [left, right]), asked);
  const byPeer = await asked;
  return children.map((child, i) => {
    const pair = pairs[i >>> 1]; // left and right of each pair, in order
    const [smaller] = bySize(pair);
    return { ...child, rows: byPeer.map((byNode, peer) => byNode.get(child.id) ?? subtractRows(pair.parent.rows[peer], rowsOf(byNode, smaller.id))) };
  });
}

function nodeRequest(pair: ChildPair, child: Child, sibling: Child): NodeRequest {
  const wantsLeft = child === pair.left;
  const members = bitmapFrom(pair.parent.instances.length, (i) => isSet(pair.leftMembers, i) === wantsLeft);
  return { node: child.id, instanceCount: child.instances.length, origin: { parent: pair.parent.id, sibling: sibling.id, members } };
}

function bySize({ left, right }: ChildPair): [Child, Child] {
  return left.instances.length <= right.instances.length ? [left, right] : [right, left];
}

function candidateRows(task: TreeTask, session: PeerSession, requests: readonly NodeRequest[]): Promise<Map<number, Float64Array>> {
  return task.waiting.during(() => session.histograms(task.tree, task.layout, requests, task.decrypting));
}

function rowsOf(byNode: ReadonlyMap<number, Float64Array>, node: number): Float64Array {
  return byNode.get(node) ?? new Float64Array(0);
}

/** The best split of a node over all parties: the active party wins ties, then passives in config order. */
async function bestOf(task: TreeTask, node: LevelNode): Promise<Choice | null> {
  const { gradients, parameters } = task;
  let best: Choice | null = node.own && { gain: node.own.gain, source: { kind: "own", split: node.own } };
  for (const [peer, rows] of node.rows.entries()) {
    if (isTurnOver()) await nextTurn();
    const { gain, indices } = selectBest(candidateGains(gradients.grids, rows, node.totals, parameters));
    if (indices.length > 0) best = betterSplit(best, { gain, source: { kind: "peer", peer, candidates: indices } });
  }
  return best !== null && isWorthSplitting(best.gain, parameters.gamma) ? best : null;
}

/** Who goes left, per node of the level; null where the node becomes a leaf. Each winner is asked once. */
async function leftBitmaps(task: TreeTask, level: readonly LevelNode[], choices: readonly (Choice | null)[]): Promise<(Uint8Array | null)[]> {
  const wanted = task.sessions.map((): Decision[] => []);
  level.forEach((node, i) => {
    const source = choices[i]?.source;
    if (source?.kind !== "peer") return;
    const { peer, candidates } = source;
    const stride = node.totals.length;
    const sideCounts = candidates.map((candidate) => node.rows[peer][candidate * stride + stride - 1]);
    wanted[peer].push({ node: node.id, instanceCount: node.instances.length, candidates, sideCounts });
  });
  const answers = await Promise.all(
    task.sessions.map((session, peer) => (wanted[peer].length === 0 ? new Map<number, Uint8Array>() : session.splits(task.tree, wanted[peer]))),
  );
  return level.map((node, i) => {
    const source = choices[i]?.source;
    if (source === undefined) return null;
    if (source.kind === "peer") return answers[source.peer].get(node.id) ?? null;
    const feature = task.features[source.split.feature];
    return bitmapFrom(node.instances.length, (k) => binGoesLeft(feature, source.split.candidate, feature.bins[node.instances[k]]));
  });
}

function ruleOf(task: TreeTask, { source }: Choice): ActiveRule {
  if (source.kind === "peer") return { owner: source.peer + 1 };
  const feature = task.features[source.split.feature];
  return {
    owner: 0,
    feature: source.split.feature,
    featureName: feature.name,
    threshold: feature.thresholds[source.split.candidate.bin],
    defaultLeft: source.split.candidate.missingLeft,
  };
}
