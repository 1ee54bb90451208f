/** Files with a secret: another user who can read one can impersonate this party. */
import { open } from "node:fs/promises";
import { TandemError } from "../error.ts";

export interface SecretFileOptions {
  /** Some platforms mount secrets readable by a group: the operator confirms that this is intended. */
  readonly insecure?: boolean | undefined;
}

/**
 * @throws TandemError FILE_UNREADABLE if other users may read it
 * @throws the system's own error if it cannot be read at all
 */
export async function readSecretFile(path: string, { insecure = false }: SecretFileOptions = {}): Promise<string> {
  const file = await open(path, "r");
  try {
    // Checks the open file, not its path, which may have been replaced. Windows has no such modes.
    const found = await file.stat();
    if (process.platform !== "win32" && !insecure && found.isFile() && (found.mode & 0o077) !== 0)
      throw new TandemError(
        "FILE_UNREADABLE",
        `${path} is a secret, and other users may read or write it; run: chmod 600 '${path}'. ` +
          `If that is not possible, set insecure_key_file under tls in the config`,
      );
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}
