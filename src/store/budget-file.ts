/**
 * What this passive party has disclosed to an active party, over all jobs: one file per partner in `.partners/`, next
 * to the jobs' folders. It outlives them: removing a job's folder does not undo a disclosure.
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import * as z from "zod";
import type { Storage } from "../base/files/storage.ts";
import { type SealedKind, readSealed, writeSealed } from "./sealed-file.ts";

const count = z.number().int().nonnegative();
const amount = z.number().nonnegative();

const spending = z.strictObject({
  sumsPerPerson: amount,
  openedPerPerson: amount.default(0),
  noisySumsPerPerson: amount,
  outcomesPerPerson: amount,
  scoredPeople: amount,
  vettings: amount.default(0),
});

const budgetFile = z.strictObject({
  /** The pinned name of the active party. */
  active: z.string(),
  spent: spending,
  /**
   * Per current job, by its id: how many of its trees have begun, and are counted with the maximum that they can
   * disclose, and how many of these have ended, and are counted with what they disclosed.
   */
  open: z.record(z.string(), z.strictObject({ begun: count, ended: count })),
});

export type StoredBudget = z.infer<typeof budgetFile>;

const kind: SealedKind<StoredBudget> = {
  format: "tandem-partner-budget/1",
  name: "budget",
  noun: "a partner's budget",
  schema: budgetFile,
  code: "CHECKPOINT",
  advice: "Restore the file: it counts what was disclosed to this partner",
};

/** The path of a file about a partner, whose name may be any text. @param ending of the file's name */
export function partnerPath(directory: string, active: string, ending: string): string {
  const digest = createHash("sha256").update(active).digest("hex").slice(0, 16);
  return join(directory, ".partners", `${digest}.${ending}`);
}

function budgetPath(directory: string, active: string): string {
  return partnerPath(directory, active, "json");
}

export function readBudget(directory: string, active: string, storage: Storage): Promise<StoredBudget | null> {
  return readSealed(budgetPath(directory, active), kind, storage);
}

export async function writeBudget(directory: string, budget: StoredBudget, storage: Storage): Promise<void> {
  await inPartnersFolder(directory, storage, () =>
    writeSealed(budgetPath(directory, budget.active), kind, budget, storage),
  );
}

/** Writes into `.partners/`, and creates the folder only after a failure: this runs several times per tree. */
export async function inPartnersFolder(directory: string, storage: Storage, write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (!isFolderMissing(error)) throw error;
    await storage.makeFolder(join(directory, ".partners"));
    await write();
  }
}

function isFolderMissing(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : null;
  return cause instanceof Error && "code" in cause && cause.code === "ENOENT";
}
