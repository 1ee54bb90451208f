/**
 * When the certificates of a party and its partners end: for metrics and the page, with warnings 60 and 14 days before.
 * A partner's is known once it has connected.
 */
import { Exclusive } from "../../base/scheduling/exclusive.ts";
import type { Emit } from "../../record/events.ts";
import { writeCertificates } from "../../record/certificate-file.ts";
import { wordsOf } from "../checks/check.ts";
import { dayMs, renewalDays } from "../../record/renewal-days.ts";
import { endOf } from "../checks/certificate-end.ts";

interface KnownEnd {
  /** 0: this party; otherwise the partner's place in the config, from 1. */
  readonly partner: number;
  /** Which of its pins, from 1. */
  readonly pin: number;
  readonly party: string;
  readonly fingerprint: string;
  readonly until: number;
}

export class CertificateEnds {
  readonly #own: string;
  readonly #directory: string;
  readonly #emit: Emit;
  readonly #now: () => number;
  readonly #writes = new Exclusive();
  /** By fingerprint. */
  readonly #known = new Map<string, KnownEnd>();
  /** The last limit that was warned of, in days. */
  readonly #warned = new Map<string, number>();

  constructor(own: string, directory: string, emit: Emit, now: () => number = Date.now) {
    this.#own = own;
    this.#directory = directory;
    this.#emit = emit;
    this.#now = now;
  }

  /** Called for every connection: what is known already says nothing. */
  note(end: KnownEnd): void {
    const known = this.#known.get(end.fingerprint);
    if (known !== undefined && known.partner === end.partner && known.pin === end.pin) return;
    for (const [fingerprint, { partner, pin }] of this.#known)
      if (partner === end.partner && pin === end.pin) this.#known.delete(fingerprint);
    this.#known.set(end.fingerprint, end);
    this.#emit({ type: "certificate", ...end, party: this.#own, of: end.party });
    this.look();
    const lines = [...this.#known.values()].toSorted((a, b) => a.partner - b.partner || a.pin - b.pin);
    void this.#writes.run(() => writeCertificates(this.#directory, lines));
  }

  /** Warns of those that end soon, once per limit. */
  look(): void {
    for (const { fingerprint, until, party, partner } of this.#known.values()) {
      const days = Math.floor((until - this.#now()) / dayMs);
      const limit = [0, renewalDays.urgent, renewalDays.soon].find((each) => days < each);
      if (limit === undefined || (this.#warned.get(fingerprint) ?? Infinity) <= limit) continue;
      this.#warned.set(fingerprint, limit);
      const whose = partner === 0 ? "this party's own certificate" : `the certificate of ${party}`;
      const words = wordsOf(endOf(`${whose} (${fingerprint.slice(0, 16)}...)`, until, party, this.#now()));
      this.#emit({ type: "notice", party: this.#own, words });
    }
  }
}
