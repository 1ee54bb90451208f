/**
 * A passive party's consent to an export, in two steps: what it would hand out, for its owner to look at, and then the
 * file. Sending the file is the owner's own act.
 */
import { dirname, join, resolve } from "node:path";
import { requireNewFile } from "../../base/files/new-file.ts";
import { TandemError } from "../../base/error.ts";
import { type Consent, purposeCharactersMax, writeConsent } from "../../store/consent-file.ts";
import { readPassiveShare } from "../../store/share-files.ts";
import { appendOwn } from "../../record/append-own.ts";
import { consentFact } from "./consent-fact.ts";
import type { PassiveConfig } from "../config/config.ts";
import { jobSharePath } from "./job-share.ts";
import { readSigner } from "./signer.ts";

export interface ConsentRequest {
  readonly job: string;
  /** A pinned active party's name. */
  readonly recipient: string;
  readonly purpose: string;
  /** consent.json in the job's folder unless given. */
  readonly out?: string | undefined;
  readonly tandemVersion: string;
  readonly now: Date;
}

export interface PreparedConsent {
  readonly consent: Consent;
  readonly path: string;
  write(): Promise<void>;
}

/** @throws TandemError if this party has no such share, no such recipient, or no key to sign with */
export async function prepareConsent(config: PassiveConfig, request: ConsentRequest): Promise<PreparedConsent> {
  const { job, tandemVersion, now } = request;
  const purpose = request.purpose.trim();
  if (purpose === "" || purpose.length > purposeCharactersMax)
    throw new TandemError(
      "USAGE",
      `--purpose must say in 1 to ${purposeCharactersMax} characters what the model is for`,
    );
  const sharePath = jobSharePath(config.output.directory, job);
  const share = await readPassiveShare(sharePath);
  const recipient = config.active.find(({ name }) => name === request.recipient);
  if (recipient === undefined) {
    const known = config.active.map(({ name }) => name).join(", ");
    throw new TandemError("USAGE", `--to: the config names no active party '${request.recipient}', only ${known}`);
  }
  if (recipient.name !== share.active)
    throw new TandemError("USAGE", `--to: ${job} was trained with ${share.active}. No other party can use its splits`);
  const path = request.out === undefined ? join(dirname(sharePath), "consent.json") : resolve(request.out);
  await requireNewFile(path, "Name another file with --out");
  const signer = await readSigner(config.tls, now);
  const statement = {
    model: share.model,
    job: share.job,
    party: share.name,
    recipient: { name: recipient.name, fingerprint: recipient.fingerprint[0] },
    purpose,
    date: now.toISOString(),
    tandem: tandemVersion,
  };
  const consent = { statement, share };
  const write = async (): Promise<void> => {
    await writeConsent(path, consent, signer);
    // Its owner has agreed to it; whether the file is sent is not known here.
    const parties = { active: recipient.name, passive: share.name };
    appendOwn(dirname(sharePath), { ...consentFact(share), ...parties, at: now.getTime(), purpose });
  };
  return { consent, path, write };
}
