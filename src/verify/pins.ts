/**
 * The certificates of a job's parties, as the auditor knows them: by fingerprints from outside the openings. An opening
 * only supplies the certificates that have them. A party that has renewed its certificate during the job has several;
 * what it has signed is valid with any of them.
 */
import { X509Certificate } from "node:crypto";
import { isSigned } from "../party/job-chain.ts";
import type { StoredIntroduction } from "../store/evidence-files.ts";
import { bytesFrom } from "../store/stored-numbers.ts";
import { certificateFingerprint } from "../transport/pinned-certificate.ts";
import type { Opening } from "./opening.ts";

/** By name of the party its fingerprint, or several. */
export type Pins = ReadonlyMap<string, string | readonly string[]>;

export class PinnedCertificates {
  readonly #pins: Pins;
  readonly #certificates = new Map<string, X509Certificate[]>();

  constructor(pins: Pins, openings: readonly Opening[]) {
    this.#pins = pins;
    for (const { name, own, peers } of openings)
      for (const [party, introduced] of [[name, own] as const, ...Object.entries(peers)]) {
        const read = certificatesOf(introduced).flatMap((der) => this.#pinned(party, der) ?? []);
        this.#certificates.set(party, [...(this.#certificates.get(party) ?? []), ...read]);
      }
  }

  isPinned(party: string): boolean {
    return this.#pins.has(party);
  }

  /** Whether one of the party's pinned certificates has signed this text. */
  hasSigned(party: string, text: Uint8Array, signature: Uint8Array): boolean {
    return (this.#certificates.get(party) ?? []).some((certificate) => isSigned(certificate, text, signature));
  }

  /** Whether all certificates that an opening has of a party are pinned ones of it. */
  areOf(party: string, introduced: StoredIntroduction): boolean {
    return certificatesOf(introduced).every((der) => this.#pinned(party, der) !== null);
  }

  #pinned(party: string, der: string): X509Certificate | null {
    try {
      const certificate = new X509Certificate(bytesFrom(der));
      const pins = [this.#pins.get(party) ?? []].flat();
      return pins.includes(certificateFingerprint(certificate.toString())) ? certificate : null;
    } catch {
      return null;
    }
  }
}

function certificatesOf({ certificate, earlier = [] }: StoredIntroduction): readonly string[] {
  return [certificate, ...earlier];
}
