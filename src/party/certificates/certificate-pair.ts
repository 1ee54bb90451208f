/** A certificate and its key as files: those in use, and beside them the next and the previous pair of a renewal. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { parse } from "node:path";
import { TandemError } from "../../base/error.ts";
import { readSecretFile } from "../../base/files/secret-file.ts";
import { certificateFingerprint } from "../../transport/pinned-certificate.ts";
import type { TlsFiles } from "../identity.ts";

export const stages = ["current", "next", "previous"] as const;
export type Stage = (typeof stages)[number];

export interface PairPaths {
  readonly certificate: string;
  readonly key: string;
}

export interface CertificatePair {
  readonly stage: Stage;
  readonly paths: PairPaths;
  /** Null: there is no such file yet. */
  readonly certificate: CertificateFacts | null;
  readonly hasKey: boolean;
  /** Whether key and certificate belong together; false where one of them is missing. */
  readonly fits: boolean;
}

export interface CertificateFacts {
  readonly fingerprint: string;
  /** Milliseconds since the epoch. */
  readonly from: number;
  readonly until: number;
}

/** key.pem is beside key.next.pem and key.previous.pem. */
export function pathsOf({ certificate, key }: PairPaths, stage: Stage): PairPaths {
  const beside = (path: string): string => {
    const { dir, name, ext } = parse(path);
    return `${dir === "" ? "" : `${dir}/`}${name}.${stage}${ext}`;
  };
  return stage === "current" ? { certificate, key } : { certificate: beside(certificate), key: beside(key) };
}

/** @returns null: neither file exists. @throws TandemError naming a file that cannot be read */
export async function readPair(tls: TlsFiles, stage: Stage): Promise<CertificatePair | null> {
  const paths = pathsOf(tls, stage);
  const options = { insecure: tls.insecure_key_file };
  const pem = await ifExists(paths.certificate, () => readFile(paths.certificate, "utf8"));
  const key = await ifExists(paths.key, () => readSecretFile(paths.key, options));
  if (pem === null && key === null) return null;
  const certificate = pem === null ? null : parsed(paths.certificate, pem);
  return {
    stage,
    paths,
    certificate: certificate && factsOf(certificate),
    hasKey: key !== null,
    fits: certificate !== null && key !== null && belongTogether(certificate, key),
  };
}

export function factsOf(certificate: X509Certificate): CertificateFacts {
  return {
    fingerprint: certificateFingerprint(certificate.toString()),
    from: Date.parse(certificate.validFrom),
    until: Date.parse(certificate.validTo),
  };
}

function parsed(path: string, pem: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch (cause) {
    throw new TandemError("CERTIFICATE", `${path} is not a certificate in PEM form`, { cause });
  }
}

function belongTogether(certificate: X509Certificate, key: string): boolean {
  try {
    return certificate.checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}

async function ifExists(path: string, read: () => Promise<string>): Promise<string | null> {
  try {
    return await read();
  } catch (cause) {
    if (cause instanceof TandemError) throw cause;
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw new TandemError("FILE_UNREADABLE", `${path} cannot be read`, { cause });
  }
}
