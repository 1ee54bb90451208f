/**
 * Grows one tree: the order of splits, node ids, leaves and their statistics. The best split of a node, and which
 * instances go left, come from a SplitSearch: one over all parties' features in one place
 * (gbdt/split/centralised-search.ts), one over own features and the passive parties' answers
 * (protocol/active/federated-search.ts). Both find the same splits bit for bit, and therefore grow the same tree.
 *
 * Order of growth as in XGBoost's driver (1.7, src/tree/driver.h): level by level in id order, or with
 * grow_policy=lossguide always the node of the highest gain, the older one on a tie.
 */
import type { QuantisedGradients } from "../../base/gradients/quantised-gradients.ts";
import { everyRow, rowLoops } from "../../base/rows/row-loops.ts";
import {
  isWorthSplitting,
  leafValue,
  type SplitParameters,
  type TreeGain,
  unbounded,
  type WeightBounds,
} from "../split/gain.ts";
import type { Interactions } from "../split/interactions.ts";
import { nodeTotals, subtractRows } from "../split/histogram.ts";
import type { Tree, TreeNode } from "./tree.ts";

export interface GrowParameters extends SplitParameters {
  readonly eta: number;
  readonly growPolicy: "depthwise" | "lossguide";
  /** 0: no limit. */
  readonly maxDepth: number;
  /** 0: no limit. */
  readonly maxLeaves: number;
}

/** The maximum size of a tree, which bounds the work of passive parties. At least one of the limits is not 0. */
export function treeSizeMax({ maxDepth, maxLeaves }: Pick<GrowParameters, "maxDepth" | "maxLeaves">): {
  readonly nodes: number;
  readonly pairs: number;
} {
  const leaves = Math.min(maxDepth === 0 ? Infinity : 2 ** maxDepth, maxLeaves === 0 ? Infinity : maxLeaves);
  // Children of the last level, and of the split that creates the last leaf, are not split again: they are not
  // requested.
  const pairs = Math.min(maxDepth === 0 ? Infinity : 2 ** (maxDepth - 1) - 1, Math.max(0, leaves - 2));
  return { nodes: 2 * leaves - 1, pairs };
}

/**
 * Nodes of one tree that are requested from passive parties: the root, and one child of each pair, or both if nodes may
 * have different columns.
 */
export function nodesAskedMax(
  size: Pick<GrowParameters, "maxDepth" | "maxLeaves">,
  { byLevel, byNode }: { readonly byLevel: number; readonly byNode: number },
): number {
  return 1 + treeSizeMax(size).pairs * (byLevel === 1 && byNode === 1 ? 1 : 2);
}

/** A node that is not split yet. */
export class GrowingNode {
  readonly id: number;
  readonly depth: number;
  /** Ascending. */
  readonly instances: Uint32Array;
  /** The members that the tree is trained on; the others are only routed. */
  readonly sampled: Uint32Array;
  readonly bounds: WeightBounds;
  /** The features that may split it. */
  readonly interactions: Interactions | null;
  readonly #sumUp: () => Float64Array;
  #totals: Float64Array | null = null;

  /** @param sumUp computes the node's row; left out: from all its gradients */
  constructor(
    id: number,
    depth: number,
    instances: Uint32Array,
    sampled: Uint32Array,
    gradients: QuantisedGradients,
    bounds: WeightBounds = unbounded,
    sumUp: () => Float64Array = () => nodeTotals(gradients, sampled),
    interactions: Interactions | null = null,
  ) {
    this.id = id;
    this.depth = depth;
    this.instances = instances;
    this.sampled = sampled;
    this.bounds = bounds;
    this.interactions = interactions;
    this.#sumUp = sumUp;
  }

  /** The node's row (slot sums, count): computed on first use, possibly while passive parties compute. */
  get totals(): Float64Array {
    this.#totals ??= this.#sumUp();
    return this.#totals;
  }
}

export interface NodePair {
  readonly parent: GrowingNode;
  readonly left: GrowingNode;
  readonly right: GrowingNode;
}

/** The result of a split search; a search may return a subtype with more fields. */
export interface FoundSplit {
  readonly gain: number;
}

export interface SplitOutcome<R> {
  readonly rule: R;
  /** The monotone constraint of the feature that splits: 1, -1, or 0 for none. */
  readonly monotone: number;
  /** The features that may split below it. */
  readonly below: Interactions | null;
  /** The node's instances, in their order. */
  readonly left: Uint32Array;
  readonly right: Uint32Array;
}

export interface SplitSearch<R, F extends FoundSplit> {
  /** The best allowed split of the root, null if there is none. */
  root(root: GrowingNode): Promise<F | null>;
  /** The same for the left and the right node of each pair, in this order. Parents are not searched again. */
  children(pairs: readonly NodePair[]): Promise<(F | null)[]>;
  /** Splits nodes as found. */
  split(chosen: readonly { readonly node: GrowingNode; readonly found: F }[]): Promise<SplitOutcome<R>[]>;
}

export interface GrownTree<R> {
  readonly tree: Tree<R>;
  /** Per instance the id of its leaf. */
  readonly leaves: Uint32Array;
}

/** Node ids begin with the root's. */
export const rootId = 0;

interface Searched<F> {
  readonly node: GrowingNode;
  readonly found: F | null;
}

interface Expandable<F> {
  readonly node: GrowingNode;
  readonly found: F;
}

/** @param sample the instances that the tree is trained on, ascending; null: all */
export async function growTree<R, F extends FoundSplit>(
  search: SplitSearch<R, F>,
  gradients: QuantisedGradients,
  sample: Uint32Array | null,
  gain: TreeGain,
  parameters: GrowParameters,
): Promise<GrownTree<R>> {
  const { eta, gamma, maxDepth, maxLeaves } = parameters;
  const nodes: TreeNode<R>[] = [];
  const leaves = new Uint32Array(gradients.instanceCount);
  const addLeaf = ({ id, instances, totals, bounds }: GrowingNode): void => {
    const weights = gain.weights(totals, bounds).map((weight) => leafValue(weight, eta));
    nodes[id] = {
      kind: "leaf",
      weight: weights[0],
      ...(weights.length > 1 ? { weights } : {}),
      cover: gain.cover(totals),
      count: instances.length,
    };
    rowLoops().mark(instances, id, leaves);
  };
  const queue: Expandable<F>[] = [];
  const enqueue = ({ node, found }: Searched<F>): void => {
    if (found !== null && isWorthSplitting(found.gain, gamma)) queue.push({ node, found });
    else addLeaf(node);
  };

  let nextId = rootId + 1;
  let leafCount = 1;
  const leavesLeft = (): number => (maxLeaves === 0 ? Infinity : maxLeaves - leafCount);
  const allInstances = everyRow(leaves.length);
  const sampledOf = samplePicker(sample, gradients.instanceCount);
  const root = new GrowingNode(rootId, 0, allInstances, sampledOf(allInstances), gradients);
  enqueue({ node: root, found: await search.root(root) });
  for (;;) {
    const chosen = takeNext(queue, parameters.growPolicy, leavesLeft());
    if (chosen.length === 0) break;
    const outcomes = await search.split(chosen);
    const pairs = chosen.map(({ node, found }, i): NodePair => {
      const { rule, left, right, below } = outcomes[i];
      nodes[node.id] = {
        kind: "split",
        left: nextId,
        right: nextId + 1,
        gain: found.gain,
        cover: gain.cover(node.totals),
        count: node.instances.length,
        rule,
      };
      const sampled = [sampledOf(left), sampledOf(right)] as const;
      const [leftTotals, rightTotals] = childTotals(node, sampled, gradients);
      const [leftBounds, rightBounds] = childBounds(node, outcomes[i].monotone, leftTotals, gain);
      const depth = node.depth + 1;
      return {
        parent: node,
        left: new GrowingNode(nextId++, depth, left, sampled[0], gradients, leftBounds, leftTotals, below),
        right: new GrowingNode(nextId++, depth, right, sampled[1], gradients, rightBounds, rightTotals, below),
      };
    });
    leafCount += chosen.length;
    const [open, closed] = divide(pairs, ({ left }) => (maxDepth === 0 || left.depth < maxDepth) && leavesLeft() > 0);
    for (const { left, right } of closed) for (const node of [left, right]) addLeaf(node);
    const found = open.length === 0 ? [] : await search.children(open);
    open.forEach(({ left, right }, i) => {
      enqueue({ node: left, found: found[2 * i] });
      enqueue({ node: right, found: found[2 * i + 1] });
    });
  }
  for (const { node } of queue) addLeaf(node);
  return { tree: nodes, leaves };
}

/** The rows of two children: the smaller one's is summed, the other's is derived by subtraction, exactly. */
function childTotals(
  parent: GrowingNode,
  [left, right]: readonly [Uint32Array, Uint32Array],
  gradients: QuantisedGradients,
): [left: () => Float64Array, right: () => Float64Array] {
  const isLeftSmaller = left.length <= right.length;
  let summed: Float64Array | null = null;
  const smaller = (): Float64Array => (summed ??= nodeTotals(gradients, isLeftSmaller ? left : right));
  const larger = (): Float64Array => subtractRows(parent.totals, smaller());
  return isLeftSmaller ? [smaller, larger] : [larger, smaller];
}

/**
 * A constrained split bounds the weights of its sides by their mean, as in XGBoost (split_evaluator.h, AddSplit).
 * @param leftTotals the left child's row; summed only if there is a constraint
 */
function childBounds(
  { totals, bounds }: GrowingNode,
  monotone: number,
  leftTotals: () => Float64Array,
  gain: TreeGain,
): [left: WeightBounds, right: WeightBounds] {
  const inherited = { ...bounds, parent: bounds === unbounded ? null : { ...bounds, parent: null } };
  if (monotone === 0) return bounds === unbounded ? [unbounded, unbounded] : [inherited, inherited];
  const left = leftTotals();
  const middle = (gain.weights(left, bounds)[0] + gain.weights(subtractRows(totals, left), bounds)[0]) / 2;
  const [below, above] = [
    { ...inherited, upper: middle },
    { ...inherited, lower: middle },
  ];
  return monotone > 0 ? [below, above] : [above, below];
}

/** Removes the nodes that are split next from the queue: at most `leavesLeft` of them. */
function takeNext<F extends FoundSplit>(
  queue: Expandable<F>[],
  growPolicy: GrowParameters["growPolicy"],
  leavesLeft: number,
): Expandable<F>[] {
  if (growPolicy === "depthwise") return queue.splice(0, Math.min(queue.length, leavesLeft)); // one level, in id order
  if (queue.length === 0 || leavesLeft <= 0) return [];
  // The queue is in id order: the lowest id wins a tie.
  let best = 0;
  for (let i = 1; i < queue.length; i++) if (queue[i].found.gain > queue[best].found.gain) best = i;
  return queue.splice(best, 1);
}

/** @returns those of some instances that are in the sample */
function samplePicker(sample: Uint32Array | null, instanceCount: number): (instances: Uint32Array) => Uint32Array {
  if (sample === null) return (instances) => instances;
  const isSampled = new Uint8Array(instanceCount);
  for (const instance of sample) isSampled[instance] = 1;
  return (instances) => instances.filter((instance) => isSampled[instance] === 1);
}

function divide<T>(items: readonly T[], isFirst: (item: T) => boolean): [T[], T[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))];
}
