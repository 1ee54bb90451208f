/**
 * The certificates of a job's parties, as the auditor knows them: by fingerprints from outside the openings. An opening
 * only supplies the certificate that has the fingerprint.
 */
import { X509Certificate } from "node:crypto";
import { bytesFrom } from "../store/stored-numbers.ts";
import { certificateFingerprint } from "../transport/pinned-certificate.ts";
import type { Opening } from "./opening.ts";

/** Fingerprints by name of the party. */
export type Pins = ReadonlyMap<string, string>;

export class PinnedCertificates {
  readonly #pins: Pins;
  readonly #certificates = new Map<string, X509Certificate>();

  constructor(pins: Pins, openings: readonly Opening[]) {
    this.#pins = pins;
    for (const { name, own, peers } of openings)
      for (const [party, { certificate }] of [[name, own] as const, ...Object.entries(peers)]) {
        const read = this.#pinned(party, certificate);
        if (read !== null) this.#certificates.set(party, read);
      }
  }

  isPinned(party: string): boolean {
    return this.#pins.has(party);
  }

  /** Null: no opening has the certificate with the pinned fingerprint. */
  of(party: string): X509Certificate | null {
    return this.#certificates.get(party) ?? null;
  }

  /** Whether a certificate in an opening is the party's pinned one. @param der in base64 */
  isOf(party: string, der: string): boolean {
    return this.#pinned(party, der) !== null;
  }

  #pinned(party: string, der: string): X509Certificate | null {
    try {
      const certificate = new X509Certificate(bytesFrom(der));
      return certificateFingerprint(certificate.toString()) === this.#pins.get(party) ? certificate : null;
    } catch {
      return null;
    }
  }
}
