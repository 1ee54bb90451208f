/** What a party has kept of a job in its folder: its commitment, and the trees from the first one on. */
import { TandemError } from "../base/error.ts";
import { diskStorage } from "../base/storage.ts";
import type { Facts } from "../protocol/chain/commitment.ts";
import { type AuditFile, type AuditTree, readAudit, readAuditTree } from "../store/audit-files.ts";

export type KeptAudit = AuditFile & { readonly opened: NonNullable<AuditFile["opened"]> };

/** @throws TandemError FILE_UNREADABLE if there is nothing to open */
export async function keptAudit(folder: string, role: AuditFile["role"]): Promise<KeptAudit> {
  const audit = await readAudit(folder, diskStorage);
  if (audit === null || audit.role !== role)
    throw new TandemError("FILE_UNREADABLE", `${folder}: this party has no record of such a job`);
  const { opened } = audit;
  if (opened === null)
    throw new TandemError(
      "FILE_UNREADABLE",
      `${folder}: the job ran with 'output.verifiable: false', so that there is nothing to open`,
    );
  return { ...audit, opened };
}

export async function keptTrees(folder: string, { run, firstTree }: AuditFile): Promise<AuditTree[]> {
  const trees: AuditTree[] = [];
  for (let tree = firstTree; ; tree++) {
    const kept = await readAuditTree(folder, tree, diskStorage);
    if (kept === null || kept.run !== run) return trees;
    trees.push(kept);
  }
}

/** @throws TandemError CHECKPOINT naming what is not as it was committed to */
export function requireFacts(folder: string, committed: Facts, now: Facts): void {
  const changed = firstChange(committed, now);
  if (changed === null) return;
  throw new TandemError(
    "CHECKPOINT",
    `${folder}: '${changed}' is not what the party has committed to when the job began. ` +
      "Put config and data back as they were",
  );
}

/** The name of the first fact that differs; facts that `now` does not have count as different. */
export function firstChange(committed: Facts, now: Facts): string | null {
  const names = new Set([...Object.keys(committed), ...Object.keys(now)]);
  return [...names].find((name) => committed[name] !== now[name]) ?? null;
}
