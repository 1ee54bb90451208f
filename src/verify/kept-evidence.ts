/** Reads the evidence of a job from its folder: the commitment, and the trees from the first one on. */
import { TandemError } from "../base/error.ts";
import { diskStorage } from "../base/files/storage.ts";
import type { Facts } from "../protocol/chain/commitment.ts";
import { presentFacts } from "../protocol/chain/removed-facts.ts";
import { type EvidenceFile, type TreeEvidence, readEvidence, readTreeEvidence } from "../store/evidence-files.ts";

import { readAnsweredNodes } from "../store/answered-nodes.ts";
import { readAnswers } from "../store/answer-evidence.ts";
import { readSignedGradients } from "../store/round-evidence.ts";
import { toBase64, toHex } from "../store/stored-numbers.ts";
import type { Opening } from "./opening.ts";

export type KeptEvidence = EvidenceFile & { readonly opened: NonNullable<EvidenceFile["opened"]> };

/** @throws TandemError FILE_UNREADABLE if there is nothing to open */
export async function keptEvidence(folder: string, role: EvidenceFile["role"]): Promise<KeptEvidence> {
  const evidence = await readEvidence(folder, diskStorage);
  if (evidence === null || evidence.role !== role)
    throw new TandemError("FILE_UNREADABLE", `${folder}: this party has no evidence of this job`);
  const { opened } = evidence;
  if (opened === null)
    throw new TandemError(
      "FILE_UNREADABLE",
      `${folder}: the job ran with 'output.verifiable: false', as an experiment, or with noise and a scheme that ` +
        "cannot be replayed, so there is nothing to open",
    );
  return { ...evidence, opened };
}

export async function keptTrees(folder: string, { run, firstTree }: EvidenceFile): Promise<TreeEvidence[]> {
  const trees: TreeEvidence[] = [];
  for (let tree = firstTree; ; tree++) {
    const kept = await readTreeEvidence(folder, tree, diskStorage);
    if (kept === null || kept.run !== run) return trees;
    trees.push(kept);
  }
}

/**
 * Gradients of rounds, and of nodes whose tree is not signed; those that were refused too.
 * @param finished number of signed trees: their links cover all nodes that were answered
 */
export async function keptGradients(
  folder: string,
  { run, firstTree }: EvidenceFile,
  finished: number,
): Promise<Opening["gradients"]> {
  const signed = await readSignedGradients(folder, run, diskStorage);
  const nodes = await readAnsweredNodes(folder, run.split("/")[1], diskStorage);
  let entries = "";
  const ofNodes = nodes.map(({ tree, node, request, signature, entries: own }) => {
    entries = own ?? entries; // left out: as in the line before
    return { tree, node, digest: request, signature, entries };
  });
  return [
    ...signed.map(({ tree, node, digest, signature, entries: own }) => ({
      tree,
      node,
      digest: toHex(digest),
      signature: toBase64(signature),
      ...(own === undefined ? {} : { entries: toBase64(own) }),
    })),
    ...ofNodes.filter(({ tree }) => tree >= firstTree + finished),
  ];
}

/** Answers of trees that not all parties have signed. @param trees of the active party's evidence */
export async function keptAnswers(
  folder: string,
  { run, firstTree, peers }: EvidenceFile,
  trees: readonly TreeEvidence[],
): Promise<Opening["answers"]> {
  const isSigned = ({ pairs }: TreeEvidence): boolean =>
    Object.keys(peers).every((peer) => pairs[peer]?.theirs !== undefined);
  const unsigned = trees.findIndex((tree) => !isSigned(tree));
  const finished = unsigned < 0 ? trees.length : unsigned;
  return (await readAnswers(folder, run, diskStorage)).filter(({ tree }) => tree >= firstTree + finished);
}

/** @throws TandemError CHECKPOINT naming a fact that differs from the committed one */
export function requireFacts(folder: string, committed: Facts, now: Facts): void {
  const changed = firstChange(committed, now);
  if (changed === null) return;
  throw new TandemError(
    "CHECKPOINT",
    `${folder}: '${changed}' is not what the party has committed to when the job began. ` +
      "Restore config and data as they were",
  );
}

/** The name of the first fact that differs; facts that `now` does not have count as different. */
export function firstChange(kept: Facts, now: Facts): string | null {
  const committed = presentFacts(kept);
  const names = new Set([...Object.keys(committed), ...Object.keys(now)]);
  return [...names].find((name) => committed[name] !== now[name]) ?? null;
}
