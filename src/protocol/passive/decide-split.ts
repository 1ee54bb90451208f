/** How the named candidate splits a node, and which members go left. */
import { TandemError } from "../../base/error.ts";
import type { BinnedFeature } from "../../gbdt/split/binning.ts";
import { leftBins } from "../../gbdt/split/candidate.ts";
import { toSplitTest } from "../../gbdt/split/split-test.ts";
import type { TreeNodes } from "../../scheme/candidates/tree-nodes.ts";
import { lookedUpBits } from "../../wire/bitmap.ts";
import type { ActiveSplitDecision } from "../../wire/generated/tandem/v1/tandem_pb.ts";
import type { DecidedSplit } from "./answered-splits.ts";

/** A split that is about to be answered, with its answer. */
export interface SplitAnswer extends DecidedSplit {
  readonly members: Uint32Array;
  readonly monotone: number;
  /** Interaction groups of its feature that are open at the node. */
  readonly groups: number;
}

/**
 * One candidate or one category set is named. Ties are already broken: lowest feature, lowest threshold, missing right.
 * @throws TandemError PROTOCOL_STATE if the named candidate does not exist at the node, or is suppressed there
 */
export function decideSplit(
  nodes: TreeNodes,
  features: readonly BinnedFeature[],
  tree: number,
  { node, named, constraints }: ActiveSplitDecision,
): SplitAnswer {
  if (named.case === undefined) throw new TandemError("PROTOCOL_STATE", `no candidate was named for node ${node}`);
  const chosen =
    named.case === "candidate" ? nodes.namedAt(node, named.value, constraints) : nodes.setAt(node, named.value);
  const feature = features[chosen.feature];
  const members = nodes.members(node);
  const split = { tree, node, feature: chosen.feature, featureName: feature.name, ...toSplitTest(feature, chosen) };
  const goesLeft = leftBins(feature, chosen);
  const leftMembers = lookedUpBits(goesLeft, feature.bins, members);
  const groups = nodes.openGroups(node, chosen.feature);
  return { split, members, leftMembers, monotone: feature.monotone ?? 0, groups };
}
