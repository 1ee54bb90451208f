/** The pins of a partner in a config: the fingerprints of its certificates. */
import * as z from "zod";
import { listOf } from "../../base/parameters/config-fields.ts";

const fingerprintWords = "must be a SHA-256 fingerprint, 64 hex digits as 'tandem fingerprint' prints it";
/** As `tandem fingerprint` prints it, or as other programs do: with colons, in capitals. */
const oneFingerprint = z
  .string()
  .transform((given) => given.replaceAll(/[:\s]/g, "").toLowerCase())
  .pipe(z.string().regex(/^[0-9a-f]{64}$/, fingerprintWords));
/** Two where a party is about to change its certificate: either is accepted. */
export const fingerprint = z
  .union([oneFingerprint, listOf(oneFingerprint).min(1).max(2)], `${fingerprintWords}, or a list of two`)
  .transform((given) => (typeof given === "string" ? [given] : given));
