/**
 * Which of a party's candidates are ever offered where nobody tells it who is in a node. Minimums then hold over all
 * that are summed in the job, and nowhere below: who knows counts there sees the sums first. The passive party and the
 * centralised trainer both call it.
 */
import type { BinnedFeature } from "./binning.ts";
import { candidatesOf } from "./candidate.ts";
import { areOff, type Minimums, OfferedCandidates } from "./offered-candidates.ts";

/**
 * @param rows the instances that are summed
 * @returns per feature and candidate 1 if it is ever offered; null: all are
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
