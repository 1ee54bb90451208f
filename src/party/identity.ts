/** The certificate and the key that a config names. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { TandemError } from "../base/error.ts";
import { readSecretFile } from "../base/files/secret-file.ts";
import type { TlsIdentity } from "../transport/tls-settings.ts";
import type { PassiveConfig } from "./config/config.ts";

export type TlsFiles = Pick<PassiveConfig["tls"], "certificate" | "key"> & Partial<PassiveConfig["tls"]>;

/** While both files are being replaced, one of them may be new already. */
const replacing = { attempts: 5, waitMs: 200 } as const;

/** Reads the PEM files that a config names. @throws TandemError FILE_UNREADABLE naming the file, also if others may */
export async function readIdentity(tls: TlsFiles, maker = "tandem init"): Promise<TlsIdentity> {
  for (let attempt = 1; ; attempt++) {
    const identity = await readOnce(tls, maker);
    if (attempt === replacing.attempts || !areOfTwoPairs(identity)) return identity;
    await new Promise((resolve) => setTimeout(resolve, replacing.waitMs));
  }
}

async function readOnce(tls: TlsFiles, maker: string): Promise<TlsIdentity> {
  const read = async (path: string, reading = readFile(path, "utf8")): Promise<string> => {
    try {
      return await reading;
    } catch (cause) {
      if (cause instanceof TandemError) throw cause;
      throw new TandemError("FILE_UNREADABLE", `${path} cannot be read. '${maker}' makes a key and a certificate`, {
        cause,
      });
    }
  };
  const options = { insecure: tls.insecure_key_file };
  const given = async (path: string | undefined) => (path === undefined ? undefined : read(path));
  const [certificate, key] = await Promise.all([
    read(tls.certificate),
    read(tls.key, readSecretFile(tls.key, options)),
  ]);
  return { certificate, key, authority: await given(tls.authority), revoked: await given(tls.revoked) };
}

/** False for what cannot be parsed: another error says more. */
function areOfTwoPairs({ certificate, key }: TlsIdentity): boolean {
  try {
    return !new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}
