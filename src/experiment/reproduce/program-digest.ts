/**
 * A digest of everything that a party runs: measurements made by another program are not taken for this one's. What
 * only draws tables and figures is left out, so that a better picture does not cost another two hours.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const layers = ["base", "crypto", "codec", "gbdt", "data", "align", "protocol", "transport", "store", "party"];

export function programDigest(): string {
  const source = fileURLToPath(new URL("../..", import.meta.url));
  const native = fileURLToPath(new URL("../../../native", import.meta.url));
  const hash = createHash("sha256");
  for (const folder of [...layers.map((layer) => join(source, layer)), native]) {
    for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" }).sort()) {
      if (/(?<!\.test|\.d)\.(?:ts|js|h|cc|cpp)$/.test(name))
        hash
          .update(name)
          .update("\0")
          .update(readFileSync(join(folder, name)));
    }
  }
  return hash.digest("hex");
}
