/**
 * All seeds of the lattice scheme, derived from a party's 32-byte seed of the job by HMAC-SHA256. Each is a function of
 * all that it encrypts or masks: a node's seed of its plaintexts, the seed of hints of the bins, the seed of an
 * answer's smudging noise of the records that it answers. So one seed never serves two different messages, and the same
 * message is encrypted to the same bytes in every attempt, whatever was lost, repeated or restored from a snapshot.
 * This is the idea of synthetic initialisation vectors (RFC 5297); equality of two messages is all that it reveals.
 */
import { createHash, createHmac } from "node:crypto";
import { assert } from "../../base/assert.ts";
import type { BinChains, LatticeShape } from "./kernel.ts";

export const jobSeedBytes = 32;

/** One ciphertext per row: an output of a node. */
export interface OutputPlace {
  readonly tree: number;
  readonly node: number;
  /** Its index among the outputs of the tree. */
  readonly output: number;
}

/** The nonce that a party contributes to the common key; further ones of the active party are padding. */
export function jobNonce(jobSeed: Uint8Array, index = 0): Uint8Array {
  return derived(jobSeed, "nonce", [index]);
}

/** @param columns the integers that are encrypted */
export function nodeSeed(
  jobSeed: Uint8Array,
  shape: LatticeShape,
  { tree, node, output }: OutputPlace,
  columns: readonly Int32Array[],
): Uint8Array {
  return derived(jobSeed, "node", [...shapeFacts(shape), tree, node, output, digestOf(columns)]);
}

export function hintSeed(
  jobSeed: Uint8Array,
  shape: LatticeShape,
  bins: readonly Uint16Array[],
  { binCounts, chainOffsets, sources, targets }: BinChains,
): Uint8Array {
  const digest = digestOf([binCounts, chainOffsets, sources, targets, ...bins]);
  return derived(jobSeed, "hints", [...shapeFacts(shape), digest]);
}

/** @param request digest of all messages that requested the node */
export function smudgingSeed(
  jobSeed: Uint8Array,
  shape: LatticeShape,
  { tree, node, output }: OutputPlace,
  request: Uint8Array,
): Uint8Array {
  return derived(jobSeed, "smudging", [...shapeFacts(shape), tree, node, output, hex(request)]);
}

/** The common key stands for the job and for all parties' nonces. */
function shapeFacts({ set, rowCount, t, slotBits, crsKey }: LatticeShape): readonly (string | number)[] {
  return [hex(crsKey), set.name, rowCount, t.toString(), slotBits];
}

/** @param facts without a slash */
function derived(jobSeed: Uint8Array, purpose: string, facts: readonly (string | number)[]): Uint8Array {
  assert(jobSeed.length === jobSeedBytes, "the seed of a job has 32 bytes");
  const text = `tandem/lattice/2/${purpose}/${facts.join("/")}`;
  return Uint8Array.from(createHmac("sha256", jobSeed).update(text).digest());
}

/** SHA-256 of arrays, each with its length. */
function digestOf(arrays: readonly (Int32Array | Uint32Array | Uint16Array)[]): string {
  const hash = createHash("sha256").update(`${arrays.map(({ byteLength }) => byteLength).join("/")}\n`);
  for (const array of arrays) hash.update(array);
  return hash.digest("hex");
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
