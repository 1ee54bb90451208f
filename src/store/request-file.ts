/** A request of an active party as this passive party keeps it: a file each, which only the party's process writes. */
import { join } from "node:path";
import * as z from "zod";
import type { Storage } from "../base/files/storage.ts";
import { readSealed, type SealedKind, writeSealed } from "./sealed-file.ts";

const count = z.number().int().nonnegative();
const digest = z.string().regex(/^[0-9a-f]{64}$/);

/** What a job brings and asks for. What is approved is exactly this. */
const terms = z.strictObject({
  /** The active party, as this party's config names it: its certificate may be renewed meanwhile. */
  partner: z.string(),
  work: z.enum(["training", "cross-validation", "search", "vetting", "alignment"]),
  job: z.string(),
  purpose: z.string(),
  /** Of the active party; no job has more. */
  rows: count,
  aligned: z.boolean(),
  normalisations: z.array(z.string()),
  validationFile: z.boolean(),
  /** As both parties agree on them (src/protocol/job-parameters.ts), without the name of the job. */
  parameters: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
  /** SHA-256 over the names of this party's columns, in their order. */
  columns: digest,
});

/** A job that an approval was used for, or alignments before there is one. */
const use = z.strictObject({
  /** The hash of the approving line in the log. */
  approval: digest,
  /** Alignments that were begun before the job. */
  alignments: count,
  /** Null: no job has begun. */
  job: z.nullable(z.strictObject({ id: z.string(), rows: digest })),
});

const requestFile = z.strictObject({
  /** Drawn by this party: a partner that could choose it could make two requests with one name. */
  id: z.string(),
  /** Of the terms. */
  digest,
  terms,
  /** What is requested, in a line. */
  summary: z.string(),
  /** What the job would reveal to the partner at most, in words. */
  reveals: z.array(z.string()),
  /** How far the sums of the job reach, and what the partner has received before. */
  figures: z.array(z.string()),
  /** Milliseconds since the epoch: when it came first, and when it was repeated last. */
  since: count,
  seen: count,
  uses: z.array(use),
});

export type RequestTerms = z.infer<typeof terms>;
export type RequestWork = RequestTerms["work"];
export type ApprovalUse = z.infer<typeof use>;
export type StoredRequest = z.infer<typeof requestFile>;

const kind: SealedKind<StoredRequest> = {
  format: "tandem-request/1",
  name: "request",
  noun: "a request",
  schema: requestFile,
  code: "CHECKPOINT",
  advice: "Restore the file, or remove it: the partner then has to request the job again",
};

const nameSyntax = /^[0-9a-f]{8}\.json$/;

/** The folder of requests in a party's output directory. */
export function requestFolder(directory: string): string {
  return join(directory, ".requests");
}

export function actionLogPath(directory: string): string {
  return join(requestFolder(directory), "actions.jsonl");
}

/** All of them, in order of their arrival. @throws TandemError CHECKPOINT */
export async function readRequests(directory: string, storage: Storage): Promise<readonly StoredRequest[]> {
  const folder = requestFolder(directory);
  const names = (await storage.list(folder)).filter(({ name, isFolder }) => !isFolder && nameSyntax.test(name));
  const found = await Promise.all(names.map(({ name }) => readSealed(join(folder, name), kind, storage)));
  return found.filter((request) => request !== null).toSorted((a, b) => a.since - b.since || (a.id < b.id ? -1 : 1));
}

export async function writeRequest(directory: string, request: StoredRequest, storage: Storage): Promise<void> {
  await storage.makeFolder(requestFolder(directory));
  await writeSealed(pathOf(directory, request.id), kind, request, storage);
}

export async function removeRequest(directory: string, id: string, storage: Storage): Promise<void> {
  await storage.remove(pathOf(directory, id));
}

function pathOf(directory: string, id: string): string {
  return join(requestFolder(directory), `${id}.json`);
}
