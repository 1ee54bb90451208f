/**
 * A digest of everything that a party runs: measurements made by another program are not taken for this one's. What
 * only runs experiments or shows them is left out, so that a better picture does not cost another two hours.
 *
 * It is a digest of sources. The bundle in dist/ mixes what counts with what does not, so the build stores the digest
 * of the sources that it was made from beside it (scripts/bundle.mjs).
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isBuilt, packagePath } from "../../src/base/package-root.ts";

/** Everything else in src/ counts, also what is yet to come. */
const leftOut = ["cli", "dashboard", "report", "simulate"];

export function programDigest(): string {
  return isBuilt ? readFileSync(packagePath("dist", "program.sha256"), "utf8").trim() : sourceDigest(packagePath());
}

/** @param root the folder that holds src/ and native/ */
export function sourceDigest(root: string): string {
  const source = join(root, "src");
  const layers = readdirSync(source, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !leftOut.includes(entry.name))
    .map(({ name }) => name)
    .sort();
  const hash = createHash("sha256");
  for (const folder of [...layers.map((layer) => join(source, layer)), join(root, "native")]) {
    for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" }).sort()) {
      if (/(?<!\.test|\.d)\.(?:ts|h|cc|cpp)$/.test(name))
        hash
          .update(name)
          .update("\0")
          .update(readFileSync(join(folder, name)));
    }
  }
  return hash.digest("hex");
}
