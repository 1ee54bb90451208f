/** The certificate and the key that a config names. */
import { readFile } from "node:fs/promises";
import { TandemError } from "../base/error.ts";
import { readSecretFile } from "../base/files/secret-file.ts";
import type { TlsIdentity } from "../transport/tls-settings.ts";
import type { PassiveConfig } from "./config/config.ts";

type TlsFiles = Pick<PassiveConfig["tls"], "certificate" | "key"> & Partial<PassiveConfig["tls"]>;

/** Reads the PEM files that a config names. @throws TandemError FILE_UNREADABLE naming the file, also if others may */
export async function readIdentity(tls: TlsFiles, maker = "tandem init"): Promise<TlsIdentity> {
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
  const [certificate, key] = await Promise.all([
    read(tls.certificate),
    read(tls.key, readSecretFile(tls.key, options)),
  ]);
  return { certificate, key, authority: tls.authority === undefined ? undefined : await read(tls.authority) };
}
