/**
 * What a party stores of gradient rounds before anything of them leaves or is answered: a line each in
 * `evidence/rounds.jsonl` of the job's folder.
 *
 * - The active party: a digest of the plaintexts, and the serial that their nonces are drawn with.
 * - A passive party: the digest of the gradients that it received, with the active party's signature. A second set of
 *   gradients for the same round is refused, and stored too: both signatures together prove it.
 *
 * Lines name their run of the job; those of other runs are ignored.
 */
import { join } from "node:path";
import * as z from "zod";
import type { Storage } from "../base/files/storage.ts";
import type { JournalEntry } from "../protocol/active/plaintext-journal.ts";
import type { SignedGradients } from "../protocol/passive/round-store.ts";
import { appendSealed, readSealedLines, type SealedKind } from "./sealed-file.ts";
import { bytesFrom, fromHex, toBase64, toHex } from "./stored-numbers.ts";

const index = z.number().int().nonnegative();
const hex = z.string().regex(/^([0-9a-f]{2})*$/);

const place = { run: z.string(), tree: index, node: index.nullable() };
const plaintextLine = z.strictObject({ ...place, serial: index, plaintexts: hex });
const signed = {
  tree: index,
  node: index.nullable(),
  digest: hex,
  signature: z.base64(),
  entries: z.base64().optional(),
};
const signedLine = z.strictObject({ ...place, ...signed, refused: z.boolean() });

/** As openings have them. */
export const signedGradientsSchema = z.strictObject(signed);

const kind = <T>(name: string, schema: z.ZodType<T>): SealedKind<T> => ({
  format: `tandem-${name}/1`,
  name,
  noun: "a record of gradient rounds",
  schema,
  code: "CHECKPOINT",
  advice: "Restore the file, or start again under another name",
});
const plaintextKind = kind("plaintexts", plaintextLine);
const signedKind = kind("gradients", signedLine);

const path = (folder: string): string => join(folder, "evidence", "rounds.jsonl");

/** @param folder of the job */
export async function readPlaintexts(folder: string, run: string, storage: Storage): Promise<JournalEntry[]> {
  const lines = (await readSealedLines(path(folder), plaintextKind, storage)) ?? [];
  return lines
    .filter((line) => line.run === run)
    .map(({ tree, node, serial, plaintexts }) => ({ tree, node, serial, plaintexts }));
}

export function addPlaintexts(
  folder: string,
  run: string,
  entries: readonly JournalEntry[],
  storage: Storage,
): Promise<void> {
  const lines = entries.map(({ tree, node, serial, plaintexts }) => ({ run, tree, node, serial, plaintexts }));
  return appendSealed(path(folder), plaintextKind, lines, storage);
}

export async function readSignedGradients(
  folder: string,
  run: string,
  storage: Storage,
): Promise<(SignedGradients & { readonly refused: boolean })[]> {
  const lines = (await readSealedLines(path(folder), signedKind, storage)) ?? [];
  return lines
    .filter((line) => line.run === run)
    .map(({ tree, node, digest, signature, entries, refused }) => ({
      tree,
      node,
      digest: fromHex(digest),
      signature: bytesFrom(signature),
      ...(entries === undefined ? {} : { entries: bytesFrom(entries) }),
      refused,
    }));
}

/** @param refused other gradients of the round were answered */
export function addSignedGradients(
  folder: string,
  run: string,
  gradients: readonly SignedGradients[],
  refused: boolean,
  storage: Storage,
): Promise<void> {
  const lines = gradients.map(({ tree, node, digest, signature, entries }) => ({
    run,
    tree,
    node,
    digest: toHex(digest),
    signature: toBase64(signature),
    ...(entries === undefined ? {} : { entries: toBase64(entries) }),
    refused,
  }));
  return appendSealed(path(folder), signedKind, lines, storage);
}
