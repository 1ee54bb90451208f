/** Certificates that parties recognise each other by. */

/** A party's certificate, and what other parties recognise it by. */
export interface Certificate {
  /** Paths, for `tls` of the party's own config. */
  readonly tls: { readonly certificate: string; readonly key: string };
  /** For `fingerprint` in the configs of other parties. */
  readonly fingerprint: string;
}

/**
 * Makes a key and a self-signed certificate for two years, as `tandem init` does: `key.pem`, which only its owner may
 * read, and `certificate.pem`. The folder is made if it is missing.
 * @throws TandemError FILE_UNWRITABLE; nothing that exists is overwritten
 */
export async function createCertificate(name: string, folder: string): Promise<Certificate> {
  const { initIdentity } = await import("../party/init.ts");
  const { keyPath, certificatePath, fingerprint } = await initIdentity(name, folder);
  return { tls: { certificate: certificatePath, key: keyPath }, fingerprint };
}
