/**
 * Durable file writes as one call of the native addon (native/plain-file.h). Without the addon nothing is done, and the
 * caller uses Node's functions instead.
 */
import { dirname } from "node:path";
import { getSystemErrorName } from "node:util";
import { plainAddon } from "../plain-addon.ts";

/** @returns whether it was done. @throws Error with the system's code */
export async function writeDurably(
  temporary: string,
  path: string,
  contents: string | Uint8Array,
  mode: number,
): Promise<boolean> {
  const addon = plainAddon();
  if (addon === null) return false;
  return isDone(
    await addon.writeFileDurably(
      Buffer.from(temporary),
      Buffer.from(path),
      Buffer.from(dirname(path)),
      bytesOf(contents),
      mode,
    ),
  );
}

/** Appends to a file. @returns whether it was done. @throws Error with the system's code */
export async function appendDurably(path: string, contents: string | Uint8Array, mode: number): Promise<boolean> {
  const addon = plainAddon();
  if (addon === null) return false;
  return isDone(await addon.appendFileDurably(Buffer.from(path), Buffer.from(dirname(path)), bytesOf(contents), mode));
}

function bytesOf(contents: string | Uint8Array): Uint8Array {
  return typeof contents === "string" ? Buffer.from(contents) : contents;
}

function isDone(error: number): boolean {
  if (error <= 0) return error === 0;
  const code = getSystemErrorName(-error);
  throw Object.assign(new Error(`the system says ${code}`), { code });
}
