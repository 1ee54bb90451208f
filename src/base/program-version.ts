/** The version of this program, from its package.json. */
import { readFileSync } from "node:fs";
import { packagePath } from "./package-root.ts";

let version: string | null = null;

export function programVersion(): string {
  version ??= (JSON.parse(readFileSync(packagePath("package.json"), "utf8")) as { version: string }).version;
  return version;
}
