/** The certificate and the key that a config names. */
import { readFile } from "node:fs/promises";
import { TandemError } from "../base/error.ts";
import type { TlsIdentity } from "../transport/tls-settings.ts";
import type { PassiveConfig } from "./config.ts";

/** Reads the PEM files that a config names. @throws TandemError FILE_UNREADABLE naming the file */
export async function readIdentity(tls: PassiveConfig["tls"]): Promise<TlsIdentity> {
  const read = async (path: string): Promise<string> => {
    try {
      return await readFile(path, "utf8");
    } catch (cause) {
      throw new TandemError("FILE_UNREADABLE", `${path} cannot be read. 'tandem init' makes a key and a certificate`, {
        cause,
      });
    }
  };
  const [certificate, key] = await Promise.all([read(tls.certificate), read(tls.key)]);
  return { certificate, key, authority: tls.authority === undefined ? undefined : await read(tls.authority) };
}
