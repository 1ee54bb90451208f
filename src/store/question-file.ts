/**
 * Which people an active party was sent masked scores of, with one model: a file in `.partners/` with six bytes of a
 * hash per answer. It outlives jobs and processes. Two people share a hash with a probability of n^2 / 2^49 for n
 * people; they are then counted as one.
 */
import { createHash } from "node:crypto";
import type { Storage } from "../base/files/storage.ts";
import { inPartnersFolder, partnerPath } from "./budget-file.ts";

const recordBytes = 6;

/** A person in the file. */
export function personKey(model: string, id: string): number {
  return createHash("sha256").update(`${model}/${id}`).digest().readUIntBE(0, recordBytes);
}

function questionPath(directory: string, active: string, model: string): string {
  return partnerPath(directory, `${active}\n${model}`, "scores");
}

/**
 * Per person the number of answers. An append that never settled may have left a part of a record, and its request was
 * never answered: that part is removed, so that later records are in their places.
 */
export async function readQuestions(
  directory: string,
  active: string,
  model: string,
  storage: Storage,
): Promise<Map<number, number>> {
  const path = questionPath(directory, active, model);
  const stored = (await storage.read(path)) ?? new Uint8Array(0);
  const whole = stored.subarray(0, stored.length - (stored.length % recordBytes));
  if (whole.length < stored.length) await storage.write(path, whole);
  const counts = new Map<number, number>();
  const bytes = Buffer.from(whole.buffer, whole.byteOffset, whole.byteLength);
  for (let at = 0; at < bytes.length; at += recordBytes) {
    const key = bytes.readUIntBE(at, recordBytes);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

/** Settles once the answers are counted durably. */
export async function appendQuestions(
  directory: string,
  active: string,
  model: string,
  keys: readonly number[],
  storage: Storage,
): Promise<void> {
  const bytes = Buffer.alloc(keys.length * recordBytes);
  keys.forEach((key, i) => bytes.writeUIntBE(key, i * recordBytes, recordBytes));
  await inPartnersFolder(directory, storage, () => storage.append(questionPath(directory, active, model), bytes));
}
