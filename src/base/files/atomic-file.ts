/**
 * Files that are either the old version or the new one, whatever happens in between: write a temporary file, fsync it,
 * rename it over the old one, fsync the directory.
 */
import { open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { writeDurably } from "./durable-file.ts";
import { TandemError } from "../error.ts";
import { osRandom } from "../random.ts";

/**
 * @param contents all of it, or pieces that are written as they are produced
 * @param mode 0o600 for secrets and personal data; independent of the umask
 * @throws TandemError FILE_UNWRITABLE naming the file
 */
export async function writeFileAtomically(
  path: string,
  contents: string | Uint8Array | Iterable<string | Uint8Array>,
  mode: number,
): Promise<void> {
  const suffix = Buffer.from(osRandom.fill(new Uint8Array(6))).toString("hex");
  const temporary = join(dirname(path), `.${basename(path)}.${suffix}`);
  try {
    const isOnePiece = typeof contents === "string" || contents instanceof Uint8Array;
    if (isOnePiece && (await writeDurably(temporary, path, contents, mode))) return;
    const file = await open(temporary, "wx", mode);
    try {
      await file.chmod(mode);
      const pieces = isOnePiece ? [contents] : contents;
      for (const piece of pieces) await file.writeFile(piece); // each continues where the last one ended
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (cause) {
    await rm(temporary, { force: true });
    const reason = cause instanceof Error && "code" in cause ? ` (${String(cause.code)})` : "";
    throw new TandemError("FILE_UNWRITABLE", `${path} cannot be written${reason}`, { cause });
  }
  await syncDirectory(dirname(path));
}

/** Whether a file of this name is the remains of an interrupted write. */
export function isUnfinishedWrite(name: string): boolean {
  return /^\..+\.[0-9a-f]{12}$/.test(name);
}

/** Makes creations, renames and removals in a directory durable. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, "r");
  await directory.sync().finally(() => directory.close());
}
