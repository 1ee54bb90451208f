/** The certificates of a connection to a database server: who must have signed the server's, and what it is shown. */
import { readFile } from "node:fs/promises";
import { TandemError } from "../../base/error.ts";
import { readSecretFile } from "../../base/files/secret-file.ts";

/** PEM files, of a config. */
export interface CertificateFiles {
  readonly authority?: string | undefined;
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
  /** Secret files may be readable by other users of this machine. */
  readonly insecureFiles?: boolean | undefined;
}

/** Their texts, by Node's names. @throws TandemError FILE_UNREADABLE */
export async function readCertificates(files: CertificateFiles): Promise<{ ca?: string; cert?: string; key?: string }> {
  const { authority: ca, certificate: cert, key, insecureFiles: insecure } = files;
  return {
    ...(ca === undefined ? {} : { ca: await pem(ca, readFile(ca, "utf8")) }),
    ...(cert === undefined ? {} : { cert: await pem(cert, readFile(cert, "utf8")) }),
    ...(key === undefined ? {} : { key: await pem(key, readSecretFile(key, { insecure })) }),
  };
}

async function pem(path: string, reading: Promise<string>): Promise<string> {
  try {
    return await reading;
  } catch (cause) {
    if (cause instanceof TandemError) throw cause;
    throw new TandemError("FILE_UNREADABLE", `${path} cannot be read`, { cause });
  }
}
