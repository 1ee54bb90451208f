/**
 * The format of a party's files: one JSON object on one line: { "format", "sha256", <name> }, where sha256 is over the
 * text of the contents. A truncated or corrupted file is detected and not used.
 */
import { createHash } from "node:crypto";
import * as z from "zod";
import { type ErrorCode, TandemError } from "../base/error.ts";
import { exactJson } from "../base/text/exact-json.ts";
import { diskStorage, readText, type Storage } from "../base/files/storage.ts";
import { storedJson } from "./stored-json.ts";

/** A kind of file. */
export interface SealedKind<T> {
  /** Name and version: "tandem-active-share/1". */
  readonly format: string;
  /** The field that holds the contents. */
  readonly name: string;
  /** A noun for messages: "a model share". */
  readonly noun: string;
  readonly schema: z.ZodType<T>;
  /** The error code for an invalid file of this kind. */
  readonly code: ErrorCode;
  /** What to do about it: the last sentence of a message. */
  readonly advice?: string;
  /** Formats of earlier versions, and what to do about such a file. */
  readonly earlier?: { readonly format: RegExp; readonly advice: string };
}

export async function writeSealed<T>(
  path: string,
  kind: SealedKind<T>,
  contents: T,
  storage: Storage = diskStorage,
): Promise<void> {
  await storage.write(path, sealed(kind, contents));
}

/** writeSealed for contents that are already text, from storedJson: only the end of growing data is serialised again.
 * */
export async function writeSealedText<T>(
  path: string,
  kind: SealedKind<T>,
  text: string,
  storage: Storage,
): Promise<void> {
  await storage.write(path, sealedText(kind, text));
}

/** Shorter texts are concatenated and written at once. */
const wholeChars = 1 << 20;

/**
 * The same in pieces, so that contents with many rows are never in memory as a whole.
 * @param pieces the same each time they are iterated
 */
export async function writeSealedPieces<T>(
  path: string,
  kind: SealedKind<T>,
  pieces: () => Iterable<string>,
  storage: Storage,
): Promise<void> {
  const hash = createHash("sha256");
  let chars = 0;
  for (const piece of pieces()) {
    hash.update(piece);
    chars += piece.length;
  }
  const sealed = sealedPieces(kind, hash.digest("hex"), pieces());
  await storage.write(path, chars <= wholeChars ? [...sealed].join("") : sealed);
}

function* sealedPieces<T>(kind: SealedKind<T>, digest: string, pieces: Iterable<string>): Generator<string> {
  yield `{"format":"${kind.format}","sha256":"${digest}","${kind.name}":`;
  yield* pieces;
  yield "}\n";
}

/** Adds lines to a file of many of a kind. @see readSealedLines */
export async function appendSealed<T>(
  path: string,
  kind: SealedKind<T>,
  contents: readonly T[],
  storage: Storage,
): Promise<void> {
  // The remains of an interrupted write have no line end.
  await storage.append(path, `\n${contents.map((one) => sealed(kind, one)).join("")}`);
}

/** appendSealed for one line whose contents are already text. */
export async function appendSealedText<T>(
  path: string,
  kind: SealedKind<T>,
  text: string,
  storage: Storage,
): Promise<void> {
  await storage.append(path, `\n${sealedText(kind, text)}`);
}

/**
 * All complete lines: an interrupted one has no end, and its writer was never confirmed.
 * @returns null if there is no such file
 */
export async function readSealedLines<T>(
  path: string,
  kind: SealedKind<T>,
  storage: Storage,
): Promise<readonly T[] | null> {
  const text = await readText(storage, path);
  if (text === null) return null;
  const lines = text.split("\n").map((line) => `${line}\n`);
  return lines.filter((line) => envelopeSyntax.test(line)).map((line) => unsealed(path, line, kind));
}

/**
 * A file of one kind to whose end lines of another were appended, one at a time (appendSealedText). An interrupted line
 * has no line end, and its writer was never confirmed.
 * @returns null if there is no such file. @throws TandemError FILE_UNREADABLE, or the kinds' codes naming the file
 */
export async function readSealedAndLines<T, L>(
  path: string,
  kind: SealedKind<T>,
  lineKind: SealedKind<L>,
  storage: Storage,
): Promise<{ readonly head: T; readonly lines: readonly L[] } | null> {
  const text = await readText(storage, path);
  if (text === null) return null;
  const end = text.indexOf("\n") + 1;
  const head = unsealed(path, text.slice(0, end), kind);
  const added = text.slice(end).matchAll(/\n([^\n]+\n)(?=\n|$)/g);
  return { head, lines: [...added].map(([, line]) => unsealed(path, line, lineKind)) };
}

function sealed<T>(kind: SealedKind<T>, contents: T): string {
  return sealedText(kind, storedJson(contents));
}

/** @param text the contents, as storedJson makes it */
function sealedText<T>(kind: SealedKind<T>, text: string): string {
  return [...sealedPieces(kind, sha256(text), [text])].join("");
}

const envelopeSyntax = /^\{"format":"([^"]*)","sha256":"([0-9a-f]{64})","([a-z]+)":(.*)\}\n$/s;

/** The declared format of a file; null if it is absent or has another structure. @throws TandemError FILE_UNREADABLE */
export async function sealedFormat(path: string, storage: Storage = diskStorage): Promise<string | null> {
  const text = await readText(storage, path);
  return text === null ? null : (envelopeSyntax.exec(text)?.[1] ?? null);
}

/**
 * @returns null if there is no such file. @throws TandemError FILE_UNREADABLE, or the kind's code naming the file
 */
export async function readSealed<T>(
  path: string,
  kind: SealedKind<T>,
  storage: Storage = diskStorage,
): Promise<T | null> {
  const text = await readText(storage, path);
  return text === null ? null : unsealed(path, text, kind);
}

function unsealed<T>(path: string, text: string, kind: SealedKind<T>): T {
  const wrong = (what: string): TandemError =>
    new TandemError(kind.code, `${path} ${what}${kind.advice === undefined ? "" : `. ${kind.advice}`}`);
  const envelope = envelopeSyntax.exec(text);
  if (envelope === null) throw wrong(`is not ${kind.noun}, or is truncated`);
  const [, format, digest, name, contents] = envelope;
  if (format !== kind.format || name !== kind.name) {
    const advice = kind.earlier?.format.test(format) === true ? `. ${kind.earlier.advice}` : "";
    throw wrong(`has the format ${format}, not ${kind.format}${advice}`);
  }
  if (sha256(contents) !== digest) throw wrong("is damaged: its checksum does not match");
  const value = exactJson(contents);
  if (value === undefined) throw wrong("has wrong contents: they are not JSON as this program writes it");
  return checked(kind.schema, value, (what) => wrong(`has wrong contents: ${what}`));
}

/**
 * Validates contents against their schema.
 * @throws the error that `wrong` makes from the first invalid field
 */
export function checked<T>(schema: z.ZodType<T>, value: unknown, wrong: (what: string) => TandemError): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw wrong(z.prettifyError(result.error).split("\n")[0]);
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
