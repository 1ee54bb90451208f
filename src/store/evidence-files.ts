/**
 * What a party stores of a job for later verification (docs/verify.md), readable by its owner only (mode 0600):
 *
 *   evidence.json        its commitment with salt and facts, including secrets, and the introductions of the others
 *   evidence/00012.json  of a tree: the digests of its messages, the signatures of both parties, and what only this
 * party
 *                        has
 *
 * They are kept after the job. With `output.verifiable: false` in the config, salt, facts, and ciphertexts are
 * left out: the chain then only proves that both parties had the same messages.
 */
import { join } from "node:path";
import * as z from "zod";
import type { Storage } from "../base/files/storage.ts";
import type { Facts } from "../protocol/chain/commitment.ts";
import type { ClosedTree } from "../protocol/chain/pair-chain.ts";
import type { SignedTree } from "../protocol/chain/record.ts";
import { readSealed, type SealedKind, writeSealed } from "./sealed-file.ts";
import { toBase64, toHex } from "./stored-numbers.ts";

const hex = z.string().regex(/^([0-9a-f]{2})*$/);
const base64 = z.base64();
const advice = "Restore the file, or start again under another name";

export const introductionSchema = z.strictObject({
  commitment: hex,
  certificate: base64,
  /** Certificates that the party had before, where it has renewed its own during the job. */
  earlier: z.array(base64).optional(),
});
export type StoredIntroduction = z.infer<typeof introductionSchema>;

/** The input of a commitment. */
export const openedSchema = z.strictObject({
  salt: hex,
  facts: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
});

const evidenceFile = z.strictObject({
  role: z.enum(["active", "passive"]),
  name: z.string(),
  job: z.string(),
  /** The job id; for a passive party also the number of its beginning under this id. */
  run: z.string(),
  own: introductionSchema,
  /** Null if nothing is stored. */
  opened: openedSchema.nullable(),
  /** The active party's rows that are common to all, base64; null: all, or a passive party. */
  aligned: base64.nullable(),
  /** The first jointly grown tree. */
  firstTree: z.number().int().nonnegative(),
  /** By pinned name. */
  peers: z.record(z.string(), introductionSchema),
});
export type EvidenceFile = Omit<z.infer<typeof evidenceFile>, "opened"> & {
  readonly opened: { readonly salt: string; readonly facts: Facts } | null;
};

export const treeEvidenceSchema = z.strictObject({
  run: z.string(),
  tree: z.number().int().nonnegative(),
  pairs: z.record(
    z.string(),
    z.strictObject({
      link: hex,
      entries: base64,
      /** This party's signature, and the other's. The active party stores its own before it sends it. */
      own: base64,
      theirs: base64.optional(),
      /** The set-up message; active party only. */
      setUp: base64.optional(),
      /** Per requested node the ciphertexts of its answer, piece by piece; active party only. */
      answers: z.record(z.string(), z.array(base64)).optional(),
    }),
  ),
});
export type TreeEvidence = z.infer<typeof treeEvidenceSchema>;

export function ownPair({ link, entries }: ClosedTree, own: Uint8Array): TreeEvidence["pairs"][string] {
  return { link: toHex(link), entries: toBase64(entries), own: toBase64(own) };
}

export function signedPair(signed: SignedTree): TreeEvidence["pairs"][string] {
  return { ...ownPair(signed, signed.own), theirs: toBase64(signed.theirs) };
}

const kind = <T>(name: string, schema: z.ZodType<T>): SealedKind<T> => ({
  format: `tandem-${name}/2`,
  name,
  noun: `the evidence of a job`,
  schema,
  code: "CHECKPOINT",
  advice,
  earlier: { format: /\/1$/, advice: "It is of 0.6: finish and verify the job with that version" },
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
