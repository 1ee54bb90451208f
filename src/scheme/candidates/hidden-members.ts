/**
 * What a passive party knows of nodes where nobody tells it who is in them: their numbers, and no more. Every instance
 * is a member of every node, as far as it can tell.
 */
import type { BinnedFeature } from "../../gbdt/split/binning.ts";
import { areOff, type Minimums, OfferedCandidates } from "../../gbdt/split/offered-candidates.ts";
import { candidatesOf } from "../../gbdt/split/candidate.ts";

export interface HiddenMembers {
  /** Requests say which node is whose child: what is offered there depends on it. */
  readonly tellsPlaces: boolean;
  /** Per feature and candidate 1 if it is ever offered; null: all are. */
  readonly offered: readonly Uint8Array[] | null;
}

/**
 * Minimums hold over all that are summed, and nowhere below: who knows counts there sees the sums first.
 * @param rows the instances that are summed
 */
export function everOffered(
  minimums: Minimums,
  features: readonly BinnedFeature[],
  rows: Uint32Array,
): readonly Uint8Array[] | null {
  const atRoot = { ...minimums, perNode: 1 };
  if (areOff(atRoot)) return null;
  const bins = features.map((feature) => feature.bins);
  const root = new OfferedCandidates(atRoot, features, bins, { id: 0, members: rows });
  return features.map((feature, index) =>
    Uint8Array.from(candidatesOf(feature), (candidate) => (root.has(0, index, candidate) ? 1 : 0)),
  );
}
