/** One tree over several parties (Algorithm 1): gbdt/tree/grow.ts with the search of federated-search.ts. */
import type { GradientLayout } from "../../codec/layout.ts";
import type { QuantisedGradients } from "../../base/gradients/quantised-gradients.ts";
import type { BinnedFeature } from "../../gbdt/split/binning.ts";
import type { ColumnSampler } from "../../gbdt/boost/column-sampling.ts";
import { treeGains } from "../../gbdt/split/gain.ts";
import { type GrowParameters, type GrownTree, growTree } from "../../gbdt/tree/grow.ts";
import type { SplitRule } from "../../gbdt/tree/tree.ts";
import type { BusyClock } from "./busy-clock.ts";
import { FederatedSearch } from "./federated-search.ts";
import type { ActiveRound, TreeMembership } from "./membership.ts";
import type { PeerSession } from "./peer-session.ts";
import type { OnAlarm } from "./won-splits.ts";

/** A passive party's split: the active party knows only the owner. */
export interface RemoteRule {
  readonly owner: number;
}

/** The active party's share of a split: the full rule if it is its own. */
export type ActiveRule = SplitRule | RemoteRule;

export function isOwnRule(rule: ActiveRule): rule is SplitRule {
  return "feature" in rule;
}

export interface TreeTask {
  readonly tree: number;
  readonly features: readonly BinnedFeature[];
  /** Selects the own features that may split a node. */
  readonly sampler: ColumnSampler;
  readonly gradients: QuantisedGradients;
  /** The instances that the tree is trained on; null: all. */
  readonly sample: Uint32Array | null;
  /** Of what is sent. */
  readonly layout: GradientLayout;
  /** The outputs that the tree is trained for. */
  readonly outputs: readonly number[];
  readonly parameters: GrowParameters;
  /** Derive the larger child of a pair from its parent instead of requesting it. */
  readonly subtraction: boolean;
  /** Empty in a local round. */
  readonly sessions: readonly PeerSession[];
  readonly round: ActiveRound;
  readonly membership: TreeMembership;
  /** Some party has monotone constraints. */
  readonly isConstrained: boolean;
  /** Interaction constraints of the job. */
  readonly isGrouped: boolean;
  /** Passive parties keep their sums in shares. */
  readonly hidesSums: boolean;
  /** Minimum average number of instances per category at the root for category sets to be used. */
  readonly categoryPeopleMin: number;
  readonly onAlarm: OnAlarm;
  /** Time spent waiting for candidate sums, and within it decrypting them. */
  readonly waiting: BusyClock;
  readonly decrypting: BusyClock;
}

export function growFederatedTree(task: TreeTask): Promise<GrownTree<ActiveRule>> {
  const { gradients, sample, parameters, outputs, isConstrained, hidesSums } = task;
  const gains = treeGains(gradients, parameters, outputs, isConstrained, hidesSums);
  return growTree(new FederatedSearch(task, gains), gradients, sample, gains.own, parameters);
}
