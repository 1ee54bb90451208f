/**
 * Grows one tree from quantised gradients, level by level, with every party's features in one place. The federated
 * protocol must arrive at the same tree bit for bit; this is its oracle.
 */
import { realSum, type QuantisedGradients } from "../base/quantised-gradients.ts";
import { bestPartySplit, type PartySplit } from "./best-split.ts";
import type { BinnedFeature } from "./binning.ts";
import { partition } from "./candidate.ts";
import { isWorthSplitting, leafValue, leafWeight, type SplitParameters } from "./gain.ts";
import { nodeTotals } from "./histogram.ts";
import type { LeafNode, SplitRule, Tree, TreeNode } from "./tree.ts";

export interface GrowParameters extends SplitParameters {
  readonly maxDepth: number;
  readonly eta: number;
}

export interface GrownTree {
  readonly tree: Tree<SplitRule>;
  /** Per instance the id of its leaf. */
  readonly leaves: Uint32Array;
}

interface LevelNode {
  readonly id: number;
  readonly instances: Uint32Array;
}

interface OwnedSplit extends PartySplit {
  readonly owner: number;
}

/** @param parties each party's features; index 0 is the active party */
export function growTree(
  parties: readonly (readonly BinnedFeature[])[],
  gradients: QuantisedGradients,
  parameters: GrowParameters,
): GrownTree {
  const nodes: TreeNode<SplitRule>[] = [];
  const leaves = new Uint32Array(gradients.instanceCount);
  let nextId = 1;
  let level: LevelNode[] = [{ id: 0, instances: leaves.map((_, i) => i) }];
  for (let depth = 0; level.length > 0; depth++) {
    const children: LevelNode[] = [];
    for (const { id, instances } of level) {
      const totals = nodeTotals(gradients, instances);
      const split = depth < parameters.maxDepth ? bestSplit(parties, gradients, instances, totals, parameters) : null;
      if (split === null || !isWorthSplitting(split.gain, parameters.gamma)) {
        nodes[id] = makeLeaf(gradients, totals, parameters);
        for (const instance of instances) leaves[instance] = id;
        continue;
      }
      const feature = parties[split.owner][split.feature];
      const { left, right } = partition(feature, split.candidate, instances);
      nodes[id] = {
        kind: "split",
        left: nextId,
        right: nextId + 1,
        gain: split.gain,
        cover: coverOf(gradients, totals),
        count: instances.length,
        rule: ruleOf(feature, split),
      };
      children.push({ id: nextId, instances: left }, { id: nextId + 1, instances: right });
      nextId += 2;
    }
    level = children;
  }
  return { tree: nodes, leaves };
}

function bestSplit(
  parties: readonly (readonly BinnedFeature[])[],
  gradients: QuantisedGradients,
  instances: Uint32Array,
  totals: Float64Array,
  parameters: SplitParameters,
): OwnedSplit | null {
  let best: OwnedSplit | null = null;
  for (let owner = 0; owner < parties.length; owner++) {
    const split = bestPartySplit(parties[owner], gradients, instances, totals, parameters);
    if (split !== null && (best === null || split.gain > best.gain)) best = { owner, ...split };
  }
  return best;
}

function ruleOf(feature: BinnedFeature, split: OwnedSplit): SplitRule {
  return {
    owner: split.owner,
    feature: split.feature,
    featureName: feature.name,
    threshold: feature.thresholds[split.candidate.bin],
    defaultLeft: split.candidate.missingLeft,
  };
}

/** A leaf from a node's totals (slot sums, count). */
export function makeLeaf(gradients: QuantisedGradients, totals: Float64Array, parameters: GrowParameters): LeafNode {
  const count = totals[totals.length - 1];
  const g = realSum(gradients.grids[0], totals[0], count);
  const h = realSum(gradients.grids[1], totals[1], count);
  return { kind: "leaf", weight: leafValue(leafWeight(g, h, parameters), parameters.eta), cover: h, count };
}

/** The real sum of hessians of a node. */
export function coverOf(gradients: QuantisedGradients, totals: Float64Array): number {
  return realSum(gradients.grids[1], totals[1], totals[totals.length - 1]);
}
