/**
 * What an active party has had of this passive one, over all jobs: one file per partner in `.partners/`, beside the
 * jobs' folders. It outlives them: a job's folder may be removed, what it gave away stays given.
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { z } from "zod";
import type { Storage } from "../base/files/storage.ts";
import { type SealedKind, readSealed, writeSealed } from "./sealed-file.ts";

const count = z.number().int().nonnegative();
const amount = z.number().nonnegative();

const spending = z.strictObject({
  sumsPerPerson: amount,
  noisySumsPerPerson: amount,
  outcomesPerPerson: amount,
  scoredPeople: amount,
});

const budgetFile = z.strictObject({
  /** The pinned name of the active party. */
  active: z.string(),
  spent: spending,
  /**
   * Per job that is under way, by its id: how many of its trees have begun and stand in what was spent with the most
   * that they can take, and how many of these have ended and stand there with what they took.
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
  advice: "Put the file back as it was: it counts what this partner has had",
};

/** A file about a partner, whose name may be any text. @param ending of the file's name */
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

/** Writes into `.partners/`, which is made where it is not there: hardly ever, and this runs several times a tree. */
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
