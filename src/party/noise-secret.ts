/**
 * The secret of a passive party's noise in one job (see scheme/candidates). Every job has its own: with the same noise
 * in two jobs, the difference of their sums would have none.
 */
import { createHmac } from "node:crypto";

/** @param jobSecret random, stored until the end of the job */
export function deriveNoiseSecret(given: string | undefined, jobSecret: Uint8Array): Uint8Array {
  return given === undefined
    ? createHmac("sha256", jobSecret).update("tandem/answer-noise").digest()
    : noiseSecretFrom(given);
}

/** For an experiment that reproduces its noise. */
export function noiseSecretFrom(given: string): Uint8Array {
  return createHmac("sha256", given).update("tandem/answer-noise").digest();
}
