/**
 * The certificate that a running passive party shows, and the pins of its partners. Both are read again when their
 * files change, so that neither a renewal nor a changed pin needs a restart. What cannot be used is reported once, and
 * what was in use before stays in use.
 */
import { stat } from "node:fs/promises";
import { X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";
import { TandemError } from "../../base/error.ts";
import { Exclusive } from "../../base/scheduling/exclusive.ts";
import type { Emit } from "../../record/events.ts";
import { certificateFingerprint, type PinnedParty, type RecognisedParty } from "../../transport/pinned-certificate.ts";
import { type TlsIdentity, tlsOptions } from "../../transport/tls-settings.ts";
import type { Signer } from "../../store/consent-file.ts";
import { CertificateEnds } from "../certificates/certificate-ends.ts";
import { requireAll } from "../checks/check.ts";
import { checkOwnCertificate } from "../checks/own-certificate.ts";
import { checkPins } from "../checks/pins.ts";
import type { PassiveConfig } from "../config/config.ts";
import { currentPartners } from "../config/current-partners.ts";
import { readIdentity } from "../identity.ts";
import { signerOf } from "../model/signer.ts";
import type { EvidenceCredentials } from "./job-evidence.ts";

type Partners = readonly { readonly name: string; readonly fingerprint: readonly string[] }[];

/** A server that shows the certificate and admits the partners. */
export interface CredentialsUser {
  renew(identity: TlsIdentity): void;
  repin(pinned: readonly PinnedParty[]): void;
}

export interface CredentialsOptions {
  /** How often the files are looked at. */
  readonly intervalMs?: number | undefined;
  readonly now?: (() => number) | undefined;
}

/** Looking costs a few calls of `stat`. */
const usualIntervalMs = 5000;

export class LiveCredentials implements EvidenceCredentials {
  readonly #config: PassiveConfig;
  readonly #emit: Emit;
  readonly #ends: CertificateEnds;
  readonly #turns = new Exclusive();
  readonly #timer: NodeJS.Timeout;
  #identity: TlsIdentity;
  #partners: Partners;
  #marks: string | null = null;
  #user: CredentialsUser | null = null;

  /** @param identity as it was read and checked at the start */
  constructor(
    config: PassiveConfig,
    identity: TlsIdentity,
    emit: Emit,
    { intervalMs = usualIntervalMs, now }: CredentialsOptions = {},
  ) {
    this.#config = config;
    this.#emit = emit;
    this.#identity = identity;
    this.#partners = config.active;
    this.#ends = new CertificateEnds(config.name, config.output.directory, emit, now);
    this.#noteOwn();
    this.#timer = setInterval(() => void this.look(), intervalMs).unref();
  }

  get identity(): TlsIdentity {
    return this.#identity;
  }

  get pinned(): readonly PinnedParty[] {
    return this.#partners.map(({ name, fingerprint }) => ({ name, fingerprints: fingerprint }));
  }

  async signer(): Promise<Signer> {
    return signerOf(this.#identity, this.#config.tls, new Date());
  }

  pinsOf(name: string): readonly string[] {
    return this.#partners.find((partner) => partner.name === name)?.fingerprint ?? [];
  }

  /** Every change from now on is applied to it. */
  serve(user: CredentialsUser): void {
    this.#user = user;
  }

  /** A partner has connected. */
  readonly admitted = ({ name, fingerprint, until }: RecognisedParty): void => {
    const partner = this.#partners.findIndex((each) => each.name === name);
    const pin = this.pinsOf(name).indexOf(fingerprint);
    if (partner < 0 || pin < 0) return;
    this.#ends.note({ partner: partner + 1, pin: pin + 1, party: name, fingerprint, until });
  };

  /** Reads what has changed. */
  look(): Promise<void> {
    return this.#turns.run(async () => {
      this.#ends.look();
      const marks = await this.#marksNow();
      if (marks === this.#marks) return;
      this.#marks = marks;
      try {
        await this.#read();
      } catch (error) {
        if (!(error instanceof TandemError)) throw error;
        const words = `certificates and pins stay as they were, since the change cannot be used: ${error.message}`;
        this.#emit({ type: "notice", party: this.#config.name, words });
      }
    });
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** @throws TandemError if anything of it cannot be used: nothing changes then */
  async #read(): Promise<void> {
    const { name, tls } = this.#config;
    const partners = await currentPartners<Partners[number]>(this.#config, this.#config.active);
    const identity = await readIdentity(tls);
    requireAll(await checkOwnCertificate(tls, name, Date.now()));
    requireAll([checkPins({ name, certificate: identity.certificate }, "active", partners)]);
    if (textOf(identity) !== textOf(this.#identity)) {
      requireContext(identity, tls.certificate);
      this.#user?.renew(identity);
      this.#identity = identity;
      this.#noteOwn();
    }
    const changed = partners.filter(
      ({ name: partner, fingerprint }) => fingerprint.join() !== this.pinsOf(partner).join(),
    );
    this.#partners = partners;
    if (changed.length > 0) this.#user?.repin(this.pinned);
    for (const { name: partner, fingerprint } of changed)
      this.#emit({ type: "repinned", party: name, peer: partner, fingerprints: fingerprint });
  }

  #noteOwn(): void {
    const { certificate } = this.#identity;
    const until = Date.parse(new X509Certificate(certificate).validTo);
    const fingerprint = certificateFingerprint(certificate);
    this.#ends.note({ partner: 0, pin: 1, party: this.#config.name, fingerprint, until });
  }

  /** Changes whenever one of the files does. */
  async #marksNow(): Promise<string> {
    const { file, tls } = this.#config;
    const marks = [file, tls.certificate, tls.key, tls.authority, tls.revoked].map(async (path) => {
      if (path === undefined || path === null) return "";
      const found = await stat(path).catch(() => null);
      return found === null ? "missing" : `${found.ino}:${found.size}:${found.mtimeMs}`;
    });
    return (await Promise.all(marks)).join(" ");
  }
}

/** OpenSSL has rules of its own, for the length of keys for example. @throws TandemError CERTIFICATE */
function requireContext(identity: TlsIdentity, path: string): void {
  try {
    createSecureContext(tlsOptions(identity));
  } catch (cause) {
    throw new TandemError("CERTIFICATE", `${path} or its key cannot be used for TLS`, { cause });
  }
}

function textOf({ certificate, key, authority = "", revoked = "" }: TlsIdentity): string {
  return [certificate, key, authority, revoked].join("\n");
}
