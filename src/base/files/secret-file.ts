/** Files with a secret in them: whoever else may read one on this machine is this party as well. */
import { open } from "node:fs/promises";
import { TandemError } from "../error.ts";

export interface SecretFileOptions {
  /** Platforms mount secrets so that a group may read them: whoever runs there says that it is meant so. */
  readonly insecure?: boolean | undefined;
}

/**
 * @throws TandemError FILE_UNREADABLE where others may read it
 * @throws the system's own error where it cannot be read at all
 */
export async function readSecretFile(path: string, { insecure = false }: SecretFileOptions = {}): Promise<string> {
  const file = await open(path, "r");
  try {
    // Of the file that is open, whatever stands at its path by now. Windows has no such modes.
    const found = await file.stat();
    if (process.platform !== "win32" && !insecure && found.isFile() && (found.mode & 0o077) !== 0)
      throw new TandemError(
        "FILE_UNREADABLE",
        `${path} is a secret, and other users may read or write it; run: chmod 600 '${path}'. ` +
          `Where it cannot be so, say insecure_key_file under tls in the config`,
      );
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}
