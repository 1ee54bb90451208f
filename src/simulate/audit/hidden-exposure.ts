import { availableParallelism } from "node:os";
import type { BinnedFeature } from "../../gbdt/split/binning.ts";
import type { PartyExposure } from "../../privacy/attack/audit-result.ts";
import { exposureOf } from "../../privacy/attack/exposure.ts";
import type { AttackClock } from "../../privacy/attack/sums.ts";
import { membershipFacts } from "../../base/membership.ts";
import type { TranscriptLine } from "../../record/transcript-lines.ts";
import { askedNodes, type KeptJob, keptSplits } from "./kept-transcript.ts";

/**
 * Of a job that hid members from this party: what won splits told of everybody is known, and how many sums were asked
 * for; what these tell is not, since they are of nobody knows whom.
 */
export function hiddenExposure(
  lines: readonly TranscriptLine[],
  job: KeptJob,
  peer: string,
  features: readonly BinnedFeature[],
  clock: AttackClock,
): Promise<PartyExposure> {
  const asked = askedNodes(lines, peer);
  const gradients = { instanceCount: job.people, grids: [], columns: [] };
  return exposureOf(
    {
      name: job.party,
      features,
      people: Uint32Array.from({ length: job.people }, (_, i) => i),
      transcript: {
        instanceCount: job.people,
        job: { featureCount: 0, takesAllColumns: job.takesAllColumns, isLinked: true, leavesOutBin: true },
        trees: asked.map(({ tree }) => ({ tree, gradients, nodes: [] })),
        predictions: [],
      },
      splits: keptSplits(lines),
      sideAt: () => ({ feature: 0, bins: new Uint8Array(0) }),
      noise: null, // nothing of sums is tried
      tellsScoring: !job.maskedScoring,
      membership: membershipFacts.hidden,
      sumsAnswered: asked.reduce((sum, { nodes }) => sum + nodes * 2 * job.outputs, 0),
    },
    clock,
    availableParallelism(),
  );
}
