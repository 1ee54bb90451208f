/**
 * Where this package lies. Code runs from src/ under the tests, from the bundle in dist/, and from wherever npm has
 * installed it. So no path is counted in "../" from a module: all start here.
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** As in package.json: the folder that is looked for has this name in it. */
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

/** A file or folder of the package; without names, the package's own. */
export function packagePath(...names: readonly string[]): string {
  return join(root, ...names);
}

/** Whether this is the program that `npm run build` made, and not its sources. */
export const isBuilt = here.startsWith(packagePath("dist") + sep) || here === packagePath("dist");
