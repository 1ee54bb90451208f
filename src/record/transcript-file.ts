/**
 * What an audit of a job needs later, kept in the job's folder where the party's config asks for it (transcript.jsonl,
 * readable by its owner only): who was in which node, and what the other side was told. A passive party keeps its own
 * bins beside it, the active party its labels and scores. It is the party's own: nothing of it ever leaves.
 *
 * A tree that is grown again begins again with its line, and the last one counts.
 */
import { join } from "node:path";
import { JsonLinesFile, JsonLinesReader } from "../base/files/json-lines.ts";
import { TandemError } from "../base/error.ts";
import type { Observation } from "../messages/observation.ts";
import { isTranscriptLine, transcriptFormat, type TranscriptLine } from "./transcript-lines.ts";

export const transcriptFileName = "transcript.jsonl";

/** A long job on many people; past it nothing more is kept, and an audit says how many trees it has. */
const sizeBytesMax = 4 * 2 ** 30;

/** Takes what a job leaves for an audit. */
export interface TranscriptNotes {
  note(line: TranscriptLine): void;
  observed(peer: string, observation: Observation): void;
  close(): void;
}

/** Where nothing is to be kept. */
export const noTranscript: TranscriptNotes = { note() {}, observed() {}, close() {} };

export class TranscriptFile implements TranscriptNotes {
  readonly #file: JsonLinesFile;

  /** @throws TandemError FILE_UNWRITABLE: it was asked for */
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
    case "sealed node":
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
 * Lines that are torn are passed over. One that is whole and of another form is not: an audit without it would find
 * less, and that would read as "safe".
 * @throws TandemError FILE_UNREADABLE if the job has kept none, FILE_FORMAT naming the file if it was changed
 */
export async function readTranscript(folder: string): Promise<readonly TranscriptLine[]> {
  const path = join(folder, transcriptFileName);
  const lines = (await new JsonLinesReader(path).next()).filter(hasKind);
  const job = lines.findLast(({ kind }) => kind === "job");
  if (job !== undefined && job["format"] !== transcriptFormat)
    throw new TandemError("FILE_FORMAT", `${folder}: the transcript is of another version of Tandem`);
  const wrong = lines.find((line) => !isTranscriptLine(line));
  if (wrong !== undefined)
    throw new TandemError(
      "FILE_FORMAT",
      `${path} is damaged: a line of the kind '${shownKind(wrong.kind)}' is not whole`,
    );
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

/** Only what is known: the rest of a file that was changed may be anything. */
function shownKind(kind: string): string {
  return /^[a-z]{1,16}$/.test(kind) ? kind : "?";
}
