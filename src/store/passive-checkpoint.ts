/**
 * The files of a passive party's job besides its share, readable by its owner only (mode 0600):
 *
 *   alignment.json  which of its rows are common to all parties
 *   job.json        the agreed parameters, its splits of a warm-start model, and two secrets: of the candidate order
 * and of column sampling. Written when a job first begins, and again, without the secrets, when it has
 *                   succeeded
 *   progress.json   its own splits so far, and what must stay the same when a round is repeated; written before each of
 *                   them is answered: a line is appended, and now and then the file is written as a whole
 *                   (progress-file.ts). It has the id of its job: the progress of an earlier job of the same name is
 *                   ignored
 *   round/          the messages of the current round (round-files.ts)
 *   nodes.jsonl     where members are hidden, the nodes that were answered (answered-nodes.ts)
 */
import { join } from "node:path";
import * as z from "zod";
import { TandemError } from "../base/error.ts";
import type { Storage } from "../base/files/storage.ts";
import { noProgress, type OwnSplit, type PassiveProgress } from "../protocol/passive/answered-splits.ts";
import {
  appendSealedText,
  readSealed,
  readSealedAndLines,
  type SealedKind,
  writeSealed,
  writeSealedText,
} from "./sealed-file.ts";
import { storedJson, storedList } from "./stored-json.ts";
import { ownSplitSchema } from "./share-files.ts";
import { rowsFrom, toBase64 } from "./stored-numbers.ts";

const advice = "Restore the file, or remove the job's folder and start again under another name";
const index = z.number().int().nonnegative();
const hex = z.string().regex(/^([0-9a-f]{2})*$/);

const jobFile = z.strictObject({
  /** The pinned name of the active party. */
  active: z.string(),
  /** The job id. */
  run: hex,
  agreed: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
  instances: index,
  idsDigest: hex,
  aligned: z.boolean(),
  /** Bitmap, base64. */
  training: z.base64(),
  /** Bitmap over the participating rows, base64. */
  validation: z.base64(),
  /** Digest of this party's rows of the job. */
  data: hex,
  /**
   * Its splits of the warm-start model, whose share may be gone by the next attempt.
   */
  start: z.array(ownSplitSchema),
  /** Base64; null once the job has succeeded. */
  secret: z.base64().nullable(),
  /** The secret of the party's column sampling; null once the job has succeeded. */
  sampling: z.string().nullable(),
});
export type PassiveJobFile = Omit<z.infer<typeof jobFile>, "run"> & { readonly jobId: string };

const progressFields = {
  trees: index,
  splits: z.array(ownSplitSchema),
  members: z.record(z.string(), hex),
  sides: z.record(z.string(), hex),
  orders: z.array(z.string()).default([]),
  opened: z
    .array(
      z.strictObject({
        tree: index,
        bits: index,
        nodes: z.array(z.strictObject({ node: index, candidates: index, place: index })),
        sealed: z.base64(),
        opened: z.base64(),
      }),
    )
    .default([]),
  setUp: hex.nullable(),
  round: z.strictObject({ tree: index, sample: hex }).nullable(),
  testRows: hex.nullable(),
};

/** With the job id. */
const progressFile = z.strictObject({ run: hex, ...progressFields });

/** A change of the progress: the splits that it adds, and the new values of all other fields. */
const progressStep = z.strictObject({ number: index, ...progressFields });

const alignmentFile = z.strictObject({ active: z.string(), rows: z.base64(), data: hex });

export const passiveKind = <T>(name: string, schema: z.ZodType<T>, version = 1): SealedKind<T> => ({
  format: `tandem-passive-${name}/${version}`,
  name,
  noun: `a passive party's ${name}`,
  schema,
  code: "CHECKPOINT",
  advice,
});
const jobKind = passiveKind("job", jobFile, 3);
const progressKind = {
  ...passiveKind("progress", progressFile, 4),
  earlier: { format: /\/3$/, advice: "The job was begun with 0.6: finish it with that version" },
};
const stepKind = passiveKind("step", progressStep);
const alignmentKind = passiveKind("alignment", alignmentFile);

/** Which rows of a table are common to all parties, in the common order. */
export interface StoredAlignment {
  readonly active: string;
  readonly rows: Uint32Array;
  /** Digest of the table that contains the rows. */
  readonly data: string;
}

export const sharePath = (folder: string): string => join(folder, "share.json");

export async function readPassiveJob(folder: string, storage: Storage): Promise<PassiveJobFile | null> {
  const stored = await readSealed(join(folder, "job.json"), jobKind, storage);
  if (stored === null) return null;
  const { run, ...rest } = stored;
  return { ...rest, jobId: run };
}

export function writePassiveJob(folder: string, job: PassiveJobFile, storage: Storage): Promise<void> {
  const { active, jobId, ...rest } = job;
  return writeSealed(join(folder, "job.json"), jobKind, { active, run: jobId, ...rest }, storage);
}

export async function readProgress(folder: string, jobId: string, storage: Storage): Promise<PassiveProgress> {
  const path = progressPath(folder);
  const stored = await readSealedAndLines(path, progressKind, stepKind, storage);
  if (stored === null || stored.head.run !== jobId) return noProgress;
  const { run: _run, ...progress } = stored.head;
  const splits = [...progress.splits];
  let last: Omit<PassiveProgress, "splits"> = progress;
  for (const [i, { number, splits: added, ...step }] of stored.lines.entries()) {
    if (number !== i + 1)
      throw new TandemError("CHECKPOINT", `${path} is damaged: step ${i + 1} is missing. ${advice}`);
    splits.push(...added);
    last = step;
  }
  return { ...last, splits };
}

/** @returns the number of characters */
export async function writeProgress(
  folder: string,
  jobId: string,
  progress: PassiveProgress,
  storage: Storage,
): Promise<number> {
  const text = withFields({ run: jobId, ...progress }, progress.splits);
  await writeSealedText(progressPath(folder), progressKind, text, storage);
  return text.length;
}

/**
 * Appends a change of the progress to its file.
 * @param number of the steps since the file was written as a whole, this one included
 * @param before how many splits are stored already
 * @returns the number of characters
 */
export async function addProgressStep(
  folder: string,
  number: number,
  before: number,
  progress: PassiveProgress,
  storage: Storage,
): Promise<number> {
  const text = withFields({ number, ...progress }, progress.splits.slice(before));
  await appendSealedText(progressPath(folder), stepKind, text, storage);
  return text.length;
}

/** Each split is serialised once. */
function withFields(
  { members, sides, splits: _splits, ...others }: PassiveProgress & Readonly<Record<string, unknown>>,
  splits: readonly OwnSplit[],
): string {
  const text = storedJson({ ...others, members: { ...members }, sides: { ...sides } });
  return `${text.slice(0, -1)},"splits":${storedList(splits)}}`;
}

const progressPath = (folder: string): string => join(folder, "progress.json");

export function storedSplit(split: OwnSplit): z.infer<typeof ownSplitSchema> {
  return split.categories === undefined
    ? split
    : { ...split, categories: [...split.categories] as [string, ...string[]] };
}

export async function readAlignment(folder: string, storage: Storage): Promise<StoredAlignment | null> {
  const stored = await readSealed(join(folder, "alignment.json"), alignmentKind, storage);
  return stored === null ? null : { ...stored, rows: rowsFrom(stored.rows) };
}

export function writeAlignment(
  folder: string,
  { active, rows, data }: StoredAlignment,
  storage: Storage,
): Promise<void> {
  return writeSealed(join(folder, "alignment.json"), alignmentKind, { active, rows: toBase64(rows), data }, storage);
}
