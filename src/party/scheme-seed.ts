/** Secrets that follow from a job's stored one: the same in every attempt. */
import { createHmac } from "node:crypto";

/** The seed of a passive party's half of the scheme. @param jobSecret random, stored until the end of the job */
export function schemeSeedOf(jobSecret: Uint8Array): Uint8Array {
  return createHmac("sha256", jobSecret).update("tandem/scheme-seed").digest();
}

/** The key with which the active party seals what passive parties keep for it. @param seed of the job */
export function sealKeyOf(seed: Uint8Array): Uint8Array {
  return createHmac("sha256", seed).update("tandem/sealed-shares").digest();
}
