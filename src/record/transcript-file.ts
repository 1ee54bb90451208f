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
import type { Observation } from "../privacy/observation.ts";
import { hasTranscriptShape } from "./transcript-shapes.ts";

export const transcriptFileName = "transcript.jsonl";
export const transcriptFormat = "tandem-transcript/1";

/** One of a passive party's features, as it was binned. */
export interface KeptColumn {
  readonly name: string;
  readonly binCount: number;
  readonly hasMissing: boolean;
  /** Of a categorical feature: whether its categories are split one by one; null of numbers. */
  readonly oneHot: boolean | null;
  readonly monotone: number;
  /** Per person of the job, base64 of 16-bit numbers. */
  readonly bins: string;
}

/** Bitmaps and arrays are base64. */
export type TranscriptLine =
  | {
      readonly kind: "job";
      readonly format: typeof transcriptFormat;
      readonly party: string;
      readonly role: "active" | "passive";
      readonly job: string;
      readonly people: number;
      readonly depthMax: number;
      /** Pairs of g and h. */
      readonly outputs: number;
      readonly answerNoise: number;
      readonly resolutionBits: number;
      readonly maskedScoring: boolean;
      /** No columns are sampled. */
      readonly takesAllColumns: boolean;
      /** Who is in a node was hidden from passive parties; left out: it was told. */
      readonly hidesMembers?: boolean;
    }
  | { readonly kind: "columns"; readonly columns: readonly KeptColumn[] }
  | { readonly kind: "tree"; readonly peer: string; readonly tree: number; readonly sampled: string }
  | {
      readonly kind: "node";
      readonly peer: string;
      readonly tree: number;
      readonly node: number;
      /** Of the root both are 0. */
      readonly parent: number;
      readonly sibling: number;
      /** Bitmap over the parent's people; empty of the root. */
      readonly members: string;
    }
  /** Where members are hidden: a node whose sums were asked for. */
  | { readonly kind: "asked"; readonly peer: string; readonly tree: number; readonly node: number }
  | {
      /** A split of a passive party's, won in training: over the node's people, or everybody where they are hidden. */
      readonly kind: "outcome";
      readonly peer: string;
      readonly tree: number;
      readonly node: number;
      readonly left: string;
    }
  /** At a passive party, at the end: its splits of the model, per bin of the feature 1 if it goes left. */
  | {
      readonly kind: "split";
      readonly tree: number;
      readonly node: number;
      readonly feature: number;
      readonly left: string;
    }
  /** At the active party: per person its label, and the score of the finished model. */
  | { readonly kind: "people"; readonly labels: string; readonly scores: string };

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

  /** @throws TandemError FILE_UNWRITABLE: whoever asks for it wants it */
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
  const wrong = lines.find((line) => !isLine(line));
  if (wrong !== undefined)
    throw new TandemError(
      "FILE_FORMAT",
      `${path} is damaged: a line of the kind '${shownKind(wrong.kind)}' is not whole`,
    );
  if (lines.length > 0) return lines.filter(isLine);
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

function isLine(value: unknown): value is TranscriptLine {
  return hasTranscriptShape(value);
}

/** Only what is known: the rest of a file that was changed may be anything. */
function shownKind(kind: string): string {
  return /^[a-z]{1,16}$/.test(kind) ? kind : "?";
}
