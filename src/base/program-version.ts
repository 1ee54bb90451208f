/** The version of this program, from its package.json: two folders up, in src/ as in dist/. */
import { readFileSync } from "node:fs";

let version: string | null = null;

export function programVersion(): string {
  version ??= (JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as { version: string })
    .version;
  return version;
}
