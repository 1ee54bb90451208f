/**
 * A peer must present exactly the pinned certificate: a compromised authority, or another customer of it, cannot join.
 * If an authority is configured the certificate must also be issued by it; otherwise only the fingerprint and the dates
 * are checked.
 */
import { createHash, X509Certificate } from "node:crypto";

/** A party that may connect, and how it is recognised. */
export interface PinnedParty {
  readonly name: string;
  readonly fingerprint: string;
}

/** SHA-256 of a certificate's DER form, in lowercase hex. */
export function certificateFingerprint(pem: string): string {
  return fingerprintOf(new X509Certificate(pem).raw);
}

/** @returns the pinned party whose certificate this is, or why it is refused */
export function checkCertificate(der: Uint8Array | undefined, pinned: readonly PinnedParty[]): PinnedParty | string {
  if (der === undefined) return "it shows no certificate";
  const fingerprint = fingerprintOf(der);
  const party = pinned.find((candidate) => candidate.fingerprint === fingerprint);
  if (party === undefined) return `it is not the pinned one; its fingerprint is ${fingerprint}`;
  const { validFrom, validTo } = new X509Certificate(der);
  if (Date.now() < Date.parse(validFrom)) return `it is valid only from ${validFrom}`;
  if (Date.now() > Date.parse(validTo)) return `it expired at ${validTo}`;
  return party;
}

function fingerprintOf(der: Uint8Array): string {
  return createHash("sha256").update(der).digest("hex");
}
