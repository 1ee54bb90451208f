/** Sizes of memory on the command line. */
import { TandemError } from "../../base/error.ts";

const units: Readonly<Record<string, number>> = { MB: 1e6, GB: 1e9, MIB: 2 ** 20, GIB: 2 ** 30 };

/** @throws TandemError USAGE */
export function memoryBytes(option: string, text: string): number {
  const match = /^([0-9]+(?:\.[0-9]+)?) ?(MB|GB|MiB|GiB)$/i.exec(text.trim());
  const bytes = match === null ? 0 : Math.floor(Number(match[1]) * units[match[2].toUpperCase()]);
  if (bytes > 0) return bytes;
  throw new TandemError("USAGE", `${option} must be a size such as 48GB or 512MB; got '${text}'`);
}
