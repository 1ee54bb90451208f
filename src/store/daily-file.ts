/**
 * What an active party has asked of this passive one on one day: a file per partner in `.partners/`, beside the one of
 * all days. Numbers of what comes by the thousand are some ahead of what was asked. Removing the file gives the partner
 * a fresh day, and forgets nothing that it has had.
 */
import { z } from "zod";
import type { Storage } from "../base/files/storage.ts";
import { inPartnersFolder, partnerPath } from "./budget-file.ts";
import { type SealedKind, readSealed, writeSealed } from "./sealed-file.ts";

const count = z.number().int().nonnegative();

/** By the names of the config. */
const amounts = z.strictObject({
  ids: count,
  alignments: count,
  jobs: count,
  attempts: count,
  histogram_requests: count,
});

const dailyFile = z.strictObject({
  /** The pinned name of the active party. */
  active: z.string(),
  /** The latest day seen, in UTC: "2026-01-31". A clock that is set back does not make it another. */
  day: z.iso.date(),
  used: amounts,
  /** Limits that this party's owner was told about, since they run low. */
  told: z.array(z.string()),
  /** The job that was counted last: another attempt to begin it is none of its own. */
  lastJob: z.string(),
});

export type DailyAmounts = z.infer<typeof amounts>;
export type StoredDay = z.infer<typeof dailyFile>;

const kind: SealedKind<StoredDay> = {
  format: "tandem-partner-day/1",
  name: "day",
  noun: "what a partner has asked for in a day",
  schema: dailyFile,
  code: "CHECKPOINT",
  advice: "Put the file back as it was, or remove it: the partner then has a fresh day",
};

function dailyPath(directory: string, active: string): string {
  return partnerPath(directory, active, "day.json");
}

export function readDay(directory: string, active: string, storage: Storage): Promise<StoredDay | null> {
  return readSealed(dailyPath(directory, active), kind, storage);
}

export async function writeDay(directory: string, day: StoredDay, storage: Storage): Promise<void> {
  await inPartnersFolder(directory, storage, () => writeSealed(dailyPath(directory, day.active), kind, day, storage));
}
