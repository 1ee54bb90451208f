/**
 * A peer must present exactly a pinned certificate: a compromised authority, or another customer of it, cannot join. If
 * an authority is configured the certificate must also be issued by it; otherwise only the fingerprint and the dates
 * are checked. A party may have two pins, so that it can change its certificate when it likes.
 */
import { createHash, X509Certificate } from "node:crypto";

/** A party that may connect, and how it is recognised. */
export interface PinnedParty {
  readonly name: string;
  readonly fingerprints: readonly string[];
}

/** The pinned party that a peer has proven to be, and by which of its certificates. */
export interface RecognisedParty {
  readonly name: string;
  readonly fingerprint: string;
  /** When this certificate ends, in milliseconds since the epoch. */
  readonly until: number;
}

/** Why a peer's certificate is refused. */
export type CertificateFault = "missing" | "unknown" | "early" | "expired";

export class CertificateRefused extends Error {
  readonly fault: CertificateFault;

  constructor(fault: CertificateFault, words: string) {
    super(words);
    this.fault = fault;
  }
}

/** SHA-256 of a certificate's DER form, in lowercase hex. */
export function certificateFingerprint(pem: string): string {
  return fingerprintOf(new X509Certificate(pem).raw);
}

/** @returns the pinned party whose certificate this is, or why it is refused */
export function checkCertificate(
  der: Uint8Array | undefined,
  pinned: readonly PinnedParty[],
): RecognisedParty | CertificateRefused {
  if (der === undefined) return new CertificateRefused("missing", "it shows no certificate");
  const fingerprint = fingerprintOf(der);
  const party = pinned.find(({ fingerprints }) => fingerprints.includes(fingerprint));
  if (party === undefined)
    return new CertificateRefused("unknown", `it is not the pinned one; its fingerprint is ${fingerprint}`);
  const { validFrom, validTo } = new X509Certificate(der);
  if (Date.now() < Date.parse(validFrom)) return new CertificateRefused("early", `it is valid only from ${validFrom}`);
  if (Date.now() > Date.parse(validTo)) return new CertificateRefused("expired", `it expired at ${validTo}`);
  return { name: party.name, fingerprint, until: Date.parse(validTo) };
}

function fingerprintOf(der: Uint8Array): string {
  return createHash("sha256").update(der).digest("hex");
}
