/**
 * The renewal of a party's certificate in steps, each of which can be taken back. Partners pin the next certificate
 * beside the current one before the party changes over, so no connection is refused meanwhile:
 *
 *   renew      key.next.pem, certificate.next.pem         the party still shows the current certificate
 *   switch     the next pair becomes the current one, and the current one the previous
 *   finish     the previous key is deleted; partners remove its pin
 *   roll back  after `switch`: the previous pair is current again; before it: the next pair is deleted
 */
import { readFile, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { TandemError } from "../../base/error.ts";
import { syncDirectory, writeFileAtomically } from "../../base/files/atomic-file.ts";
import { createRequest, createSelfSigned } from "../../transport/certificates.ts";
import { requireAll } from "../checks/check.ts";
import { checkOwnCertificate } from "../checks/own-certificate.ts";
import type { TlsFiles } from "../identity.ts";
import { validDays } from "../init.ts";
import { type CertificatePair, type PairPaths, pathsOf, readPair, type Stage } from "./certificate-pair.ts";

export interface Renewal {
  readonly current: CertificatePair | null;
  readonly next: CertificatePair | null;
  readonly previous: CertificatePair | null;
}

interface Company {
  readonly name: string;
  readonly tls: TlsFiles;
}

/** @throws TandemError naming a file that cannot be read */
export async function readRenewal({ tls }: Company): Promise<Renewal> {
  const [current, next, previous] = await Promise.all([
    readPair(tls, "current"),
    readPair(tls, "next"),
    readPair(tls, "previous"),
  ]);
  const isHalf = current?.fits === true && previous?.certificate === null;
  return {
    current,
    next: isCopy(next, current) ? null : next,
    previous: isHalf || isCopy(previous, current) ? null : previous,
  };
}

/** A step that was interrupted leaves a copy of the pair that is still in use. The step overwrites it. */
function isCopy(pair: CertificatePair | null, current: CertificatePair | null): boolean {
  return current?.fits === true && pair?.certificate?.fingerprint === current.certificate?.fingerprint;
}

/** The pair whose key is in use already, and whose certificate is not: a step was interrupted between the two. */
export function interruptedPair({ current, next, previous }: Renewal): CertificatePair | null {
  if (current === null || current.fits) return null;
  return [next, previous].find((pair) => pair?.certificate && !pair.hasKey) ?? null;
}

export interface NextCertificate {
  readonly paths: PairPaths;
  /** Where a request for the company's authority was written; null: the certificate is self-signed. */
  readonly request: string | null;
}

/**
 * Makes the next key, with a self-signed certificate or with a request that the company's authority signs.
 * @throws TandemError USAGE while another renewal is not finished; FILE_UNWRITABLE
 */
export async function renewCertificate(company: Company, days: number, isRequest: boolean): Promise<NextCertificate> {
  const { next, previous } = await readRenewal(company);
  if (previous !== null)
    throw refused("the last renewal is not finished", "end it with 'tandem cert finish' or 'tandem cert rollback'");
  if (next !== null)
    throw refused(
      `${next.paths.key} exists: a renewal has begun`,
      "continue with 'tandem cert switch', or discard it with 'tandem cert rollback'",
    );
  const paths = pathsOf(company.tls, "next");
  if (isRequest) {
    const { request, key } = await createRequest(company.name);
    await writeFileAtomically(paths.key, key, 0o600);
    await writeFileAtomically(requestPath(paths), request, 0o644);
    return { paths, request: requestPath(paths) };
  }
  const { certificate, key } = await createSelfSigned(company.name, days > 0 ? days : validDays);
  await writeFileAtomically(paths.key, key, 0o600);
  await writeFileAtomically(paths.certificate, certificate, 0o644);
  return { paths, request: null };
}

/**
 * From now on the party shows the next certificate; a running one reads it by itself.
 * @throws TandemError USAGE if there is none, CERTIFICATE if it cannot be used
 */
export async function switchCertificate(company: Company): Promise<void> {
  if (await finishedStep(company)) return;
  const { next, previous } = await readRenewal(company);
  await requireUsable(company, next);
  if (previous !== null) throw refused("the last renewal is not finished", "end it with 'tandem cert finish' first");
  await exchange(company, "next", "previous");
}

/** @returns whether a step had been interrupted */
async function finishedStep(company: Company): Promise<boolean> {
  const pair = interruptedPair(await readRenewal(company));
  if (pair === null) return false;
  const { certificate } = pathsOf(company.tls, "current");
  await changed(certificate, () => rename(pair.paths.certificate, certificate));
  return true;
}

/** The current pair is kept as another one, and `from` becomes the current one: the key first. */
async function exchange({ tls }: Company, from: Stage, kept: Stage): Promise<void> {
  const [current, source, target] = [pathsOf(tls, "current"), pathsOf(tls, from), pathsOf(tls, kept)];
  await writeFileAtomically(target.key, await readFile(current.key), 0o600);
  await writeFileAtomically(target.certificate, await readFile(current.certificate), 0o644);
  await changed(current.key, () => rename(source.key, current.key));
  await changed(current.certificate, () => rename(source.certificate, current.certificate));
}

async function requireUsable({ tls, name }: Company, next: CertificatePair | null): Promise<void> {
  if (next === null) throw refused("there is no next certificate", "make one with 'tandem cert renew'");
  if (next.certificate === null)
    throw refused(
      `${next.paths.certificate} is missing`,
      "have the request signed by your authority, and store the certificate there",
    );
  const files = { ...tls, ...next.paths, insecure_key_file: tls.insecure_key_file ?? false };
  requireAll(await checkOwnCertificate(files, name, Date.now()));
}

/** @returns whether there was anything to delete. @throws TandemError USAGE before the switch */
export async function finishRenewal(company: Company): Promise<boolean> {
  const { next, previous } = await readRenewal(company);
  if (next !== null)
    throw refused("the next certificate is not in use yet", "'tandem cert switch' comes first; 'rollback' discards it");
  if (previous === null) return false;
  await removed(previous.paths);
  return true;
}

/** @returns what it did; null: there was no renewal */
export async function rollBack(company: Company): Promise<"discarded" | "switched back" | null> {
  await finishedStep(company);
  const { next, previous } = await readRenewal(company);
  if (previous === null) {
    if (next === null) return null;
    await removed(next.paths);
    await rm(requestPath(next.paths), { force: true });
    return "discarded";
  }
  if (!previous.fits)
    throw refused(`${previous.paths.key} and ${previous.paths.certificate} do not belong together`, "restore them");
  await exchange(company, "previous", "next");
  return "switched back";
}

function requestPath({ certificate }: PairPaths): string {
  return certificate.replace(/(\.[^./]*)?$/, ".csr");
}

async function removed({ certificate, key }: PairPaths): Promise<void> {
  await changed(key, () => rm(key, { force: true }));
  await changed(certificate, () => rm(certificate, { force: true }));
}

/** Durable before the next file is touched. @throws TandemError FILE_UNWRITABLE */
async function changed(path: string, change: () => Promise<void>): Promise<void> {
  try {
    await change();
    await syncDirectory(dirname(path));
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? "unknown";
    throw new TandemError(
      "FILE_UNWRITABLE",
      `${path} cannot be written (${code}). Where keys are mounted read-only, renew where they are kept`,
      { cause },
    );
  }
}

function refused(what: string, advice: string): TandemError {
  return new TandemError("USAGE", `${what}: ${advice}`);
}
