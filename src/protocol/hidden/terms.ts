/** Values that both parties of a job compute identically where members are hidden. */
import { createHash } from "node:crypto";
import { limitsSplits } from "../../gbdt/split/revealed-splits.ts";
import { nodesAskedMax } from "../../gbdt/tree/grow.ts";
import { type AgreedParameters, firstTreeOf, treeCountOf } from "../job-parameters.ts";

/** 16 bytes that identify a job among all jobs. */
export function runOf(job: string, jobId: Uint8Array): Uint8Array {
  const digest = createHash("sha256").update(`tandem/run/${job.length}/${job}/`).update(jobId).digest();
  return Uint8Array.from(digest.subarray(0, 16));
}

/** Whether requests contain a node's position in the tree, because its candidates depend on it. */
export function sendsTreeShape(agreed: AgreedParameters): boolean {
  return limitsSplits(agreed.defences) || agreed.interactionGroups !== "" || !hasSameColumns(agreed);
}

/** Whether columns are sampled: hints link candidates, so answers show which columns are drawn together. */
export function drawsColumns({ colsampleBytree, ...agreed }: AgreedParameters): boolean {
  return colsampleBytree < 1 || !hasSameColumns(agreed);
}

/** Maximum number of requested nodes of a tree: the root, and of each pair one child, or both where columns differ. */
export function nodesPerTree(agreed: AgreedParameters): number {
  return nodesAskedMax(agreed, { byLevel: agreed.colsampleBylevel, byNode: agreed.colsampleBynode });
}

/**
 * Maximum number of answered nodes of a job: each uses up some of its smudging. A node that is requested again gets the
 * same answer, so that repeated rounds do not count.
 */
export function nodesOfJob(agreed: AgreedParameters): number {
  return Math.max(1, treeCountOf(agreed) - firstTreeOf(agreed)) * nodesPerTree(agreed);
}

/** Pairs of g and h of a tree: one, or one per class where leaves have a weight per class. */
export function outputsPerTree({ outputs, treesPerRound }: AgreedParameters): number {
  return outputs / treesPerRound;
}

/** Whether all nodes of a tree have the same columns, so that a sibling's sums can be derived. */
function hasSameColumns({
  colsampleBylevel,
  colsampleBynode,
}: Pick<AgreedParameters, "colsampleBylevel" | "colsampleBynode">): boolean {
  return colsampleBylevel === 1 && colsampleBynode === 1;
}
