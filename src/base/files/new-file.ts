/** Files that must not be overwritten by mistake. */
import { access } from "node:fs/promises";
import { TandemError } from "../error.ts";

/** @param advice how to name another place. @throws TandemError FILE_UNWRITABLE if something has this path */
export async function requireNewFile(path: string, advice: string): Promise<void> {
  const exists = await access(path).then(
    () => true,
    () => false,
  );
  if (exists) throw new TandemError("FILE_UNWRITABLE", `${path} exists already. ${advice}, or remove it first`);
}
