/**
 * What a later audit of a job needs, kept in the job's folder if the party's config says so (transcript.jsonl, readable
 * by its owner only): node membership, and what was sent to the other side. A passive party also stores its own bins,
 * the active party its labels and scores. The file is never sent.
 *
 * A tree that is repeated starts again with its line, and the last one counts.
 */
import { join } from "node:path";
import { JsonLinesFile, JsonLinesReader } from "../base/files/json-lines.ts";
import { TandemError } from "../base/error.ts";
import type { Observation } from "../messages/observation.ts";
import { isTranscriptLine, transcriptFormat, type TranscriptLine } from "./transcript-lines.ts";

export const transcriptFileName = "transcript.jsonl";

/** Enough for a long job on many instances; beyond it nothing is stored, and an audit reports how many trees it has. */
const sizeBytesMax = 4 * 2 ** 30;

/** Receives the transcript of a job. */
export interface TranscriptNotes {
  note(line: TranscriptLine): void;
  observed(peer: string, observation: Observation): void;
  close(): void;
}

/** Keeps no transcript. */
export const noTranscript: TranscriptNotes = { note() {}, observed() {}, close() {} };

export class TranscriptFile implements TranscriptNotes {
  readonly #file: JsonLinesFile;

  /** @throws TandemError FILE_UNWRITABLE, since the config asks for it */
  constructor(folder: string) {
    this.#file = new JsonLinesFile(join(folder, transcriptFileName), sizeBytesMax);
  }

  note(line: TranscriptLine): void {
    this.#file.append(line);
  }

  observed(peer: string, observation: Observation): void {
    const line = lineOf(peer, observation);
    if (line !== null) this.note(line);
  }

  close(): void {
    this.#file.close();
  }
}

function lineOf(peer: string, seen: Observation): TranscriptLine | null {
  switch (seen.kind) {
    case "gradients":
      return seen.isFirst ? { kind: "tree", peer, tree: seen.tree, sampled: base64(seen.sampled) } : null;
    case "members": {
      const { tree, node, parent, sibling } = seen;
      return { kind: "node", peer, tree, node, parent, sibling, members: base64(seen.members) };
    }
    case "encrypted node":
      return { kind: "asked", peer, tree: seen.tree, node: seen.node };
    case "outcome":
      return { kind: "outcome", peer, tree: seen.tree, node: seen.node, left: base64(seen.leftMembers) };
    default:
      return null;
  }
}

export function base64(bytes: Uint8Array | Uint16Array | Float64Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

/**
 * Partial lines are skipped. A complete but invalid line is refused: an audit without it would find less, which would
 * read as "safe".
 * @throws TandemError FILE_UNREADABLE if the job has kept none, FILE_FORMAT naming the file if it was changed
 */
export async function readTranscript(folder: string): Promise<readonly TranscriptLine[]> {
  const path = join(folder, transcriptFileName);
  const lines = (await new JsonLinesReader(path).next()).filter(hasKind);
  const job = lines.findLast(({ kind }) => kind === "job");
  if (job !== undefined && job["format"] !== transcriptFormat)
    throw new TandemError("FILE_FORMAT", `${folder}: the transcript was written by another version of Tandem`);
  const wrong = lines.find((line) => !isTranscriptLine(line));
  if (wrong !== undefined)
    throw new TandemError("FILE_FORMAT", `${path} is damaged: a line of kind '${shownKind(wrong.kind)}' is invalid`);
  if (lines.length > 0) return lines.filter(isTranscriptLine);
  throw new TandemError(
    "FILE_UNREADABLE",
    `${folder} has no ${transcriptFileName}: set 'output.transcript: true' in the config before the job, ` +
      "or audit the tables with the options of simulate",
  );
}

type Kind = Readonly<Record<string, unknown>> & { readonly kind: string };

function hasKind(value: unknown): value is Kind {
  return typeof value === "object" && value !== null && "kind" in value && typeof value.kind === "string";
}

/** Only plain words are shown: a changed file may contain anything. */
function shownKind(kind: string): string {
  return /^[a-z]{1,16}$/.test(kind) ? kind : "?";
}
