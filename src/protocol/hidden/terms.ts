/** What both sides of a job compute alike where the members of nodes are hidden. */
import { createHash } from "node:crypto";
import { limitsSplits } from "../../gbdt/split/used-thresholds.ts";
import { nodesAskedMax } from "../../gbdt/tree/grow.ts";
import { type AgreedParameters, firstTreeOf, treeCountOf } from "../job-parameters.ts";

/**
 * A round that is redone is asked about anew, and so is every node of it. A long job may redo each of its rounds once;
 * a short one must survive a bad day all the same, so that every job may redo this many. Four times the nodes cost a
 * bit of resolution.
 */
const roundsRedoneMin = 50;

/** 16 bytes that name a job among all jobs. */
export function runOf(job: string, jobId: Uint8Array): Uint8Array {
  const digest = createHash("sha256").update(`tandem/run/${job.length}/${job}/`).update(jobId).digest();
  return Uint8Array.from(digest.subarray(0, 16));
}

/** What is offered at a node depends on where it stands, so requests say so. */
export function sendsTreeShape(agreed: AgreedParameters): boolean {
  return limitsSplits(agreed.defences) || agreed.interactionGroups !== "" || !hasSameColumns(agreed);
}

/** Some columns are left out: where hints link candidates, answers show which are drawn together. */
export function drawsColumns({ colsampleBytree, ...agreed }: AgreedParameters): boolean {
  return colsampleBytree < 1 || !hasSameColumns(agreed);
}

/** Nodes that are asked for in one tree: the root, and of each pair one child, or both where columns differ. */
export function nodesPerTree(agreed: AgreedParameters): number {
  return nodesAskedMax(agreed, { byLevel: agreed.colsampleBylevel, byNode: agreed.colsampleBynode });
}

/** Nodes that are answered in a job, all attempts together: its secrets wear off with each. */
export function nodesOfJob(agreed: AgreedParameters): number {
  const rounds = (treeCountOf(agreed) - firstTreeOf(agreed)) / agreed.treesPerRound;
  return (rounds + Math.max(rounds, roundsRedoneMin)) * agreed.treesPerRound * nodesPerTree(agreed);
}

/** Pairs of g and h of a tree: those of all classes only where a tree has a weight for each. */
export function outputsPerTree({ outputs, treesPerRound }: AgreedParameters): number {
  return outputs / treesPerRound;
}

/** All nodes of a tree have the same columns: a sibling's sums are derived from its parent's. */
function hasSameColumns({
  colsampleBylevel,
  colsampleBynode,
}: Pick<AgreedParameters, "colsampleBylevel" | "colsampleBynode">): boolean {
  return colsampleBylevel === 1 && colsampleBynode === 1;
}
