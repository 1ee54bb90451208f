/**
 * A party's TLS certificate and key as what it signs documents with: parsed, belonging together, and within their
 * dates.
 */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { TandemError } from "../../base/error.ts";
import type { Signer } from "../../store/consent-file.ts";
import type { PassiveConfig } from "../config/config.ts";
import type { TlsIdentity } from "../../transport/tls-settings.ts";
import { readIdentity } from "../identity.ts";

type TlsPaths = PassiveConfig["tls"];

/** @throws TandemError FILE_UNREADABLE, KEY_FORMAT or CERTIFICATE naming the file */
export async function readSigner(tls: TlsPaths, now: Date): Promise<Signer> {
  return signerOf(await readIdentity(tls), tls, now);
}

/** @param tls where it was read from. @throws TandemError KEY_FORMAT or CERTIFICATE naming the file */
export function signerOf(identity: TlsIdentity, tls: TlsPaths, now: Date): Signer {
  const key = readable("KEY_FORMAT", `${tls.key} is not a private key in PEM form, without a password`, () =>
    createPrivateKey(identity.key),
  );
  const certificate = certificateIn(tls.certificate, identity.certificate);
  if (!certificate.checkPrivateKey(key))
    throw new TandemError("CERTIFICATE", `${tls.key} is not the key of ${tls.certificate}`);
  checkValidAt(certificate, now, tls.certificate);
  return { certificate, key };
}

/** @throws TandemError CERTIFICATE naming the file */
function certificateIn(path: string, pem: string): X509Certificate {
  return readable("CERTIFICATE", `${path} is not a certificate in PEM form`, () => new X509Certificate(pem));
}

/** @throws TandemError CERTIFICATE if the certificate is not valid at that time */
export function checkValidAt({ validFrom, validTo }: X509Certificate, date: Date, where: string): void {
  if (date.getTime() < Date.parse(validFrom))
    throw new TandemError(
      "CERTIFICATE",
      `${where}: signed on ${date.toISOString()}, but the certificate is valid only from ${validFrom}`,
    );
  if (date.getTime() > Date.parse(validTo))
    throw new TandemError(
      "CERTIFICATE",
      `${where}: signed on ${date.toISOString()}, but the certificate expired at ${validTo}`,
    );
}

function readable<T>(code: "KEY_FORMAT" | "CERTIFICATE", message: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new TandemError(code, message, { cause });
  }
}
