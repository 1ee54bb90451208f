/**
 * The root folder of this package. Code runs from src/ in tests, from the bundle in dist/, and from the folder in which
 * npm installed it. So no path is relative to a module: all start here.
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** As in package.json, which identifies the folder. */
const packageName = "@tandem-vfl/tandem";

const here = dirname(fileURLToPath(import.meta.url));

/** The nearest folder upward that holds our package.json. */
function findRoot(): string {
  for (let folder = here; ; folder = dirname(folder)) {
    const path = join(folder, "package.json");
    if (existsSync(path) && isOurs(path)) return folder;
    if (folder === dirname(folder)) throw new Error(`no package.json of ${packageName} in or above ${here}`);
  }
}

function isOurs(path: string): boolean {
  return (JSON.parse(readFileSync(path, "utf8")) as { readonly name?: string }).name === packageName;
}

const root = findRoot();

/** A file or folder of the package; without arguments, the package's folder. */
export function packagePath(...names: readonly string[]): string {
  return join(root, ...names);
}

/** Whether this is the output of `npm run build`, not its sources. */
export const isBuilt = here.startsWith(packagePath("dist") + sep) || here === packagePath("dist");
