/**
 * What a party keeps of a job so that it can be verified afterwards (docs/verify.md), for its own eyes (mode 0600):
 *
 *   evidence.json        its commitment with salt and facts, secrets among them, and who the others said they are
 *   evidence/00012.json  of a tree: the digests of its messages, the signatures of both sides, and what only this side
 *                        has
 *
 * They stay when the job is over. Where the config says `output.verifiable: false`, salt, facts, ciphertexts and
 * nonces are left out: the chain then proves that both sides had the same messages, and nothing more.
 */
import { join } from "node:path";
import { z } from "zod";
import type { Storage } from "../base/files/storage.ts";
import type { Facts } from "../protocol/chain/commitment.ts";
import type { SignedTree } from "../protocol/chain/record.ts";
import { readSealed, type SealedKind, writeSealed } from "./sealed-file.ts";
import { textOf, toHex } from "./stored-numbers.ts";

const hex = z.string().regex(/^([0-9a-f]{2})*$/);
const base64 = z.base64();
const advice = "Put the file back as it was, or begin anew under another name";

export const introductionSchema = z.strictObject({ commitment: hex, certificate: base64 });

/** What a commitment was made from. */
export const openedSchema = z.strictObject({
  salt: hex,
  facts: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
});

const evidenceFile = z.strictObject({
  role: z.enum(["active", "passive"]),
  name: z.string(),
  job: z.string(),
  /** The job id; of a passive party also which of its beginnings under this id. */
  run: z.string(),
  own: introductionSchema,
  /** Null where nothing is kept. */
  opened: openedSchema.nullable(),
  /** The active party's rows that are common to all, base64; null: all, or a passive party. */
  aligned: base64.nullable(),
  /** The first tree that the parties grow together. */
  firstTree: z.number().int().nonnegative(),
  /** By pinned name. */
  peers: z.record(z.string(), introductionSchema),
});
export type EvidenceFile = Omit<z.infer<typeof evidenceFile>, "opened"> & {
  readonly opened: { readonly salt: string; readonly facts: Facts } | null;
};

export const signedPairSchema = z.strictObject({
  link: hex,
  entries: base64,
  /** This party's signature, and the other's. */
  own: base64,
  theirs: base64,
});

/** Nonces of a round's gradients: a secret that they are drawn from, and which draws each chunk took. */
export const recipeSchema = z.strictObject({ secret: base64, chunks: z.array(z.array(z.array(z.number().int()))) });

export const treeEvidenceSchema = z.strictObject({
  run: z.string(),
  tree: z.number().int().nonnegative(),
  pairs: z.record(
    z.string(),
    signedPairSchema.extend({
      /** The set-up message; of the active party only. */
      setUp: base64.optional(),
      /** Per node that was asked for the ciphertexts of its answer, piece by piece; of the active party only. */
      answers: z.record(z.string(), z.array(base64)).optional(),
    }),
  ),
  recipe: recipeSchema.nullable(),
});
export type TreeEvidence = z.infer<typeof treeEvidenceSchema>;

export function signedPair({ link, entries, own, theirs }: SignedTree): z.infer<typeof signedPairSchema> {
  return { link: toHex(link), entries: textOf(entries), own: textOf(own), theirs: textOf(theirs) };
}

const kind = <T>(name: string, schema: z.ZodType<T>): SealedKind<T> => ({
  format: `tandem-${name}/1`,
  name,
  noun: `what verifying a job needs`,
  schema,
  code: "CHECKPOINT",
  advice,
});
const evidenceKind = kind("evidence", evidenceFile);
const treeKind = kind("tree", treeEvidenceSchema);

export function readEvidence(folder: string, storage: Storage): Promise<EvidenceFile | null> {
  return readSealed(join(folder, "evidence.json"), evidenceKind, storage);
}

export async function writeEvidence(folder: string, evidence: EvidenceFile, storage: Storage): Promise<void> {
  await storage.makeFolder(treeFolder(folder));
  const opened = evidence.opened && { salt: evidence.opened.salt, facts: { ...evidence.opened.facts } };
  await writeSealed(join(folder, "evidence.json"), evidenceKind, { ...evidence, opened }, storage);
}

const treeFolder = (folder: string): string => join(folder, "evidence");
const treePath = (folder: string, tree: number): string =>
  join(treeFolder(folder), `${String(tree).padStart(5, "0")}.json`);

export function readTreeEvidence(folder: string, tree: number, storage: Storage): Promise<TreeEvidence | null> {
  return readSealed(treePath(folder, tree), treeKind, storage);
}

export function writeTreeEvidence(folder: string, tree: TreeEvidence, storage: Storage): Promise<void> {
  return writeSealed(treePath(folder, tree.tree), treeKind, tree, storage);
}
