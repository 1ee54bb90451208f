/**
 * What a passive party's noise is made with in one job (scheme/candidates says how). Every job has one of its own: with
 * the same noise in two jobs, the difference of their sums would have none.
 */
import { createHmac } from "node:crypto";

/** @param jobSecret what the party has drawn for this job, and keeps as long as the job lasts */
export function noiseSecretOf(given: string | undefined, jobSecret: Uint8Array): Uint8Array {
  return given === undefined
    ? createHmac("sha256", jobSecret).update("tandem/answer-noise").digest()
    : noiseSecretFrom(given);
}

/** Of an experiment that repeats its noise. */
export function noiseSecretFrom(given: string): Uint8Array {
  return createHmac("sha256", given).update("tandem/answer-noise").digest();
}
