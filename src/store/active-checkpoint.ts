/**
 * The active party's checkpoint (mode 0600): everything a restart needs to resume a job. It holds the secret of the
 * job's scheme and is removed when the job has succeeded. It never contains obfuscators.
 *
 * Most rounds are appended as lines (round-lines.ts); from time to time the whole file is written again.
 *
 * `identity` holds what must not change during a job, field by field.
 */
import { join } from "node:path";
import * as z from "zod";
import type { Storage } from "../base/files/storage.ts";
import type { Scheme, SchemeSecret } from "../scheme/scheme.ts";
import { TandemError } from "../base/error.ts";
import type { ActiveProgress, ActiveStart } from "../protocol/active/role.ts";
import { dartSchema, storedDart } from "./dart-checkpoint.ts";
import {
  bestFrom,
  bestSchema,
  type RoundLine,
  roundLineKind,
  storedBest,
  withDartRounds,
  withRounds,
} from "./round-lines.ts";
import { readSealedAndLines, type SealedKind, writeSealedPieces } from "./sealed-file.ts";
import { modelTermsSchema, treeSchema } from "./share-files.ts";
import { storedJson, storedList } from "./stored-json.ts";
import { bytesFrom, doublesFrom, rowsFrom, toBase64, textPieces } from "./stored-numbers.ts";

export type JobIdentity = Readonly<Record<string, string | number | boolean>>;

/** The digest field of an identity, which is not shown to users. */
export const dataDigestField = "data";

export interface ActiveCheckpoint {
  readonly identity: JobIdentity;
  readonly jobId: Uint8Array;
  readonly secret: SchemeSecret;
  /** 32 bytes, from which all that this party encrypts draws its randomness. */
  readonly seed: Uint8Array;
  /** The secret of the active party's column sampling. */
  readonly samplingSecret: string;
  /** The resolution that the scheme supports; left out: the requested one. */
  readonly resolutionBits?: number | undefined;
  /** Rows common to all parties; null without alignment. */
  readonly aligned: Uint32Array | null;
  /** The model of a warm start, whose file may be gone when the job is resumed; null: none. */
  readonly start: ActiveStart | null;
  /** Null before the end of the first round. */
  readonly progress: ActiveProgress | null;
}

const contents = z.strictObject({
  identity: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
  /** The job id. */
  run: z.base64(),
  key: z.string(),
  seed: z.base64(),
  sampling: z.string(),
  resolution: z.number().int().positive().optional(),
  aligned: z.base64().nullable(),
  /** The trees of the warm-start model come first among `trees`. */
  start: z
    .strictObject({
      model: z.string(),
      ...modelTermsSchema,
      trees: z.number().int().positive(),
    })
    .nullable(),
  trees: z.array(treeSchema),
  /** Empty before the end of the first round; with `dart` the initial margins. */
  margins: z.base64(),
  dart: dartSchema.optional(),
  /** The margins at the beginning of the current boosting round, if only some of its rounds have ended. */
  layer: z.base64().optional(),
  best: bestSchema,
});

const kind: SealedKind<z.infer<typeof contents>> = {
  format: "tandem-active-checkpoint/4",
  name: "checkpoint",
  noun: "a checkpoint",
  schema: contents,
  code: "CHECKPOINT",
  advice: "Restore the file, or remove it and start again under another name",
  earlier: { format: /\/3$/, advice: "The job was begun with 0.6: finish it with that version" },
};

export const checkpointPath = (folder: string): string => join(folder, "checkpoint.json");

export async function writeActiveCheckpoint(
  folder: string,
  { identity, jobId, secret, seed, samplingSecret, resolutionBits, aligned, start, progress }: ActiveCheckpoint,
  storage: Storage,
): Promise<void> {
  type Stored = z.infer<typeof contents>;
  const { best = null, dart, boostingRoundMargins } = progress ?? {};
  const margins = dart?.start ?? progress?.margins ?? new Float64Array(0);
  const before: Pick<Stored, "identity" | "run" | "key" | "seed" | "sampling" | "resolution"> = {
    identity: { ...identity },
    run: toBase64(jobId),
    key: secret.serialise(),
    seed: toBase64(seed),
    sampling: samplingSecret,
    ...(resolutionBits === undefined ? {} : { resolution: resolutionBits }),
  };
  const between: Pick<Stored, "start"> = {
    start: start && {
      ...start,
      quantiles: start.quantiles && [...start.quantiles],
      treeWeights: start.treeWeights && [...start.treeWeights],
      trees: start.trees.length,
    },
  };
  const after: Pick<Stored, "dart" | "best"> = {
    ...(dart === undefined ? {} : { dart: storedDart(dart) }),
    best: storedBest(best),
  };
  const pieces = function* (): Generator<string> {
    yield `{${fieldsOf(before)},"aligned":`;
    if (aligned === null) yield "null";
    else yield* quoted(aligned);
    yield `,${fieldsOf(between)},"margins":`;
    yield* quoted(margins);
    if (boostingRoundMargins !== undefined) {
      yield `,"layer":`;
      yield* quoted(boostingRoundMargins);
    }
    yield `,${fieldsOf(after)},"trees":${storedList((progress ?? start)?.trees ?? [])}}`;
  };
  await writeSealedPieces(checkpointPath(folder), kind, pieces, storage);
}

/** The text between the braces. */
function fieldsOf(fields: object): string {
  return storedJson(fields).slice(1, -1);
}

function* quoted(values: Uint32Array | Float64Array): Generator<string> {
  yield `"`;
  yield* textPieces(values);
  yield `"`;
}

/**
 * @returns null if there is no checkpoint
 * @throws TandemError CHECKPOINT naming the file and what is wrong with it
 */
export async function readActiveCheckpoint(
  folder: string,
  scheme: Pick<Scheme, "readSecret">,
  storage: Storage,
): Promise<ActiveCheckpoint | null> {
  const path = checkpointPath(folder);
  const stored = await readSealedAndLines(path, kind, roundLineKind, storage);
  if (stored === null) return null;
  const { identity, run, key, seed, sampling, resolution, aligned, start, trees } = stored.head;
  return {
    identity,
    jobId: bytesFrom(run),
    secret: await readSecret(path, scheme, key),
    seed: bytesFrom(seed),
    samplingSecret: sampling,
    ...(resolution === undefined ? {} : { resolutionBits: resolution }),
    aligned: aligned === null ? null : rowsFrom(aligned),
    start: start && { ...start, trees: trees.slice(0, start.trees) },
    progress: progressFrom(stored.head, stored.lines, path),
  };
}

function progressFrom(
  { run, trees, margins: text, layer, best: storedOne, dart }: z.infer<typeof contents>,
  lines: readonly RoundLine[],
  path: string,
): ActiveProgress | null {
  if (text === "") return null;
  const margins = doublesFrom(text);
  const best = bestFrom(storedOne);
  if (dart !== undefined) return withDartRounds({ trees, best, dart }, margins, run, lines, path);
  const underWay = layer === undefined ? {} : { boostingRoundMargins: doublesFrom(layer) };
  return withRounds({ trees, margins, ...underWay, best }, run, lines, path);
}

async function readSecret(path: string, scheme: Pick<Scheme, "readSecret">, text: string): Promise<SchemeSecret> {
  try {
    return await scheme.readSecret(text);
  } catch (cause) {
    throw new TandemError(
      "CHECKPOINT",
      `${path}: ${cause instanceof TandemError ? cause.message : "its key cannot be read"}`,
      { cause },
    );
  }
}

/** @returns a message about the first field that has changed since the job began; or null */
export function identityDifference(stored: JobIdentity, now: JobIdentity): string | null {
  for (const field of new Set([...Object.keys(stored), ...Object.keys(now)])) {
    if (stored[field] === now[field]) continue;
    if (field === dataDigestField) return "the data has changed since the job began";
    return `${field} was ${String(stored[field])} when the job began and is ${String(now[field])} now`;
  }
  return null;
}
