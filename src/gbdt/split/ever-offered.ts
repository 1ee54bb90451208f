/**
 * Which of a party's candidates are ever offered if it does not know the members of nodes. Minimums then apply to all
 * instances that are summed in the job, but not to nodes below: only the active party knows counts there, after it has
 * seen the sums. The passive party and the centralised trainer both call it.
 */
import type { BinnedFeature } from "./binning.ts";
import { candidatesOf } from "./candidate.ts";
import { areOff, type Minimums, OfferedCandidates } from "./offered-candidates.ts";

/**
 * @param rows the instances that are summed
 * @returns per feature and candidate 1 if it is offered at any node; null: all are
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
