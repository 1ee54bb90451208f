import { availableParallelism } from "node:os";
import type { BinnedFeature } from "../../gbdt/split/binning.ts";
import type { PartyExposure } from "../../privacy/attack/audit-result.ts";
import { exposureOf } from "../../privacy/attack/exposure.ts";
import { openedAtMost } from "../../privacy/attack/opened.ts";
import type { AttackClock } from "../../privacy/attack/sums.ts";
import { membershipFacts } from "../../base/membership.ts";
import type { TranscriptLine } from "../../record/transcript-lines.ts";
import { askedNodes, type KeptJob, keptSplits } from "./kept-transcript.ts";

/**
 * Exposure in a job that hid node members from this party. It knows the outcomes it sent for all instances and how many
 * sums were requested, but not the instances in them, so attacks on sums are not run.
 */
export function hiddenExposure(
  lines: readonly TranscriptLine[],
  job: KeptJob,
  peer: string,
  features: readonly BinnedFeature[],
  clock: AttackClock,
): Promise<PartyExposure> {
  const asked = askedNodes(lines, peer);
  const requested = asked.reduce((sum, { nodes }) => sum + nodes, 0);
  // A best candidate is opened of the sibling of a requested node too.
  const compared = 2 * requested - asked.length;
  const gradients = { instanceCount: job.people, grids: [], columns: [] };
  return exposureOf(
    {
      name: job.party,
      features,
      instances: Uint32Array.from({ length: job.people }, (_, i) => i),
      transcript: {
        instanceCount: job.people,
        job: { featureCount: 0, takesAllColumns: job.takesAllColumns, isLinked: true, leavesOutBin: true },
        trees: asked.map(({ tree }) => ({ tree, gradients, nodes: [] })),
        predictions: [],
      },
      splits: keptSplits(lines),
      sideAt: () => ({ feature: 0, bins: new Uint8Array(0) }),
      noise: null, // attacks on sums are not run
      tellsScoring: !job.maskedScoring,
      membership: membershipFacts.hidden,
      sumsAnswered: requested * 2 * job.outputs,
      opened: job.hidesSums === true ? openedAtMost(compared) : null,
    },
    clock,
    availableParallelism(),
  );
}
