/**
 * What an active party has requested from this passive one on one day: a file per partner in `.partners/`, next to the
 * one over all days. Frequent counts are written ahead of the requests. Removing the file gives the partner a fresh
 * day, but does not reset the total budget.
 */
import * as z from "zod";
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
  /** The latest day seen, in UTC: "2026-01-31". Setting back the clock does not change it. */
  day: z.iso.date(),
  used: amounts,
  /** Limits that are nearly used up, about which the owner was notified. */
  /** Limits whose alarm was raised today. */
  told: z.array(z.string()),
  /** The last counted job: another attempt at it is not counted again. */
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
  advice: "Restore the file, or remove it: the partner then has a fresh day",
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
