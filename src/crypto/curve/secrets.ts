/**
 * All secrets of the curve scheme, as streams of SHAKE256. They are derived from a party's 32-byte seed of the job and
 * from everything that they encrypt or mask: so no secret ever serves two different messages, and a repeated message
 * has the same bytes, in every attempt (docs/decisions/0038-curve-secrets.md).
 */
import { createHash, createHmac } from "node:crypto";
import { assert } from "../../base/assert.ts";
import { wideScalarBytes } from "./kernel.ts";

export const curveSeedBytes = 32;
/** Rows of one stream. */
export const rowsPerStream = 4096;

/** The seed of h of all rows: the same in every attempt at a job. */
export function rowSeed(jobSeed: Uint8Array): Uint8Array {
  return derived(jobSeed, "rows", []);
}

/** h of all rows, wideScalarBytes each. */
export function rowScalars(seed: Uint8Array, rowCount: number): Uint8Array {
  const wide = new Uint8Array(rowCount * wideScalarBytes);
  const chunk = new Uint8Array(4);
  for (let first = 0; first < rowCount; first += rowsPerStream) {
    new DataView(chunk.buffer).setUint32(0, first / rowsPerStream, true);
    const count = Math.min(rowsPerStream, rowCount - first);
    const bytes = stream(["tandem curve rows v1", seed, chunk], count);
    wide.set(bytes, first * wideScalarBytes);
    bytes.fill(0);
  }
  return wide;
}

/**
 * A function of all that the round encrypts: other plaintexts, or the same for other rows, have another secret. One
 * secret for two rounds would reveal the difference of their gradients to every passive party.
 * @param rows in the order of the plaintexts @param plaintexts row by row, value by value
 */
export function roundSecret(
  jobSeed: Uint8Array,
  serial: number,
  rows: Uint32Array,
  plaintexts: Int32Array,
): Uint8Array {
  return derived(jobSeed, "round", [serial, digestOf([rows, plaintexts])]);
}

/** s of each value, wideScalarBytes each. */
export function roundScalars(secret: Uint8Array, valueCount: number): Uint8Array {
  return stream(["tandem curve round v1", secret], valueCount);
}

/**
 * rho of each candidate of an answer, wideScalarBytes each.
 * @param question digest of everything that determines the answer
 */
export function maskScalars(jobSeed: Uint8Array, question: Uint8Array, candidateCount: number): Uint8Array {
  const secret = derived(jobSeed, "masks", [Buffer.from(question).toString("hex"), candidateCount]);
  return stream(["tandem curve masks v1", secret], candidateCount);
}

function stream(parts: readonly (string | Uint8Array)[], count: number): Buffer {
  const hash = createHash("shake256", { outputLength: count * wideScalarBytes });
  for (const part of parts) hash.update(part);
  return hash.digest();
}

/** @param facts without a slash */
function derived(jobSeed: Uint8Array, purpose: string, facts: readonly (string | number)[]): Uint8Array {
  assert(jobSeed.length === curveSeedBytes, "the seed of a job has 32 bytes");
  return Uint8Array.from(
    createHmac("sha256", jobSeed)
      .update(`tandem/curve/1/${[purpose, ...facts].join("/")}`)
      .digest(),
  );
}

/** SHA-256 of arrays, each with its length. */
export function digestOf(arrays: readonly NodeJS.TypedArray[]): string {
  const hash = createHash("sha256").update(`${arrays.map(({ byteLength }) => byteLength).join("/")}\n`);
  for (const array of arrays) hash.update(array);
  return hash.digest("hex");
}
