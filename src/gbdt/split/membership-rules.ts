/**
 * The parts of split finding that depend on whether a passive party knows the members of a node: which candidates it
 * may suppress, and what its noise is keyed by. The centralised trainer uses the rules of the job's protocol, so that
 * it grows the same trees.
 */
import type { Membership } from "../../base/membership.ts";
import type { BinnedFeature } from "./binning.ts";
import { everOffered } from "./ever-offered.ts";
import type { Minimums } from "./offered-candidates.ts";
import type { NoiseNames } from "./tree-noise.ts";

export interface MembershipRules {
  /**
   * @param rows the instances that are summed in any tree of the job
   * @returns the minimums at each node, and per feature and candidate 1 if it is offered at any node (null: all are)
   */
  offers(
    minimums: Minimums,
    features: readonly BinnedFeature[],
    rows: () => Uint32Array,
  ): { readonly minimums: Minimums; readonly ever: readonly Uint8Array[] | null };
  /** @param derives whether sums of the larger sibling are derived from its parent's */
  noiseNames(tree: number, derives: boolean): NoiseNames;
  /** Then roots with the same gradients are recognised, and get the same noise. */
  readonly noiseIsByNumber: boolean;
}

export const membershipRules: Readonly<Record<Membership, MembershipRules>> = {
  sent: {
    offers: (minimums) => ({ minimums, ever: null }),
    noiseNames: () => ({ by: "members" }),
    noiseIsByNumber: false,
  },
  // A party that cannot count members can suppress candidates by their counts over all rows, and reject small nodes.
  hidden: {
    offers: (minimums, features, rows) => ({
      minimums: { perNode: minimums.perNode, perCandidate: 1 },
      ever: everOffered(minimums, features, rows()),
    }),
    noiseNames: (tree, derives) => ({ by: "number", tree, derives }),
    noiseIsByNumber: true,
  },
};
