/** The seed of a passive party's half of the scheme in one job: the same in every attempt. */
import { createHmac } from "node:crypto";

/** @param jobSecret random, stored until the end of the job */
export function schemeSeedOf(jobSecret: Uint8Array): Uint8Array {
  return createHmac("sha256", jobSecret).update("tandem/scheme-seed").digest();
}
