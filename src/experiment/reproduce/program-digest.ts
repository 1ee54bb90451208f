/**
 * A digest of everything that a party runs: measurements made by another program are not taken for this one's. What
 * only draws tables and figures is left out, so that a better picture does not cost another two hours.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Folders of src/ that a party runs, and those that it does not; together they are all. */
export const runByParties = [
  "base",
  "wire",
  "crypto",
  "codec",
  "gbdt",
  "data",
  "align",
  "privacy",
  "scheme",
  "protocol",
  "transport",
  "store",
  "record",
  "party",
  "scoring",
] as const;
export const aroundParties = ["cli", "dashboard", "experiment", "report"] as const;

export function programDigest(): string {
  const source = fileURLToPath(new URL("../..", import.meta.url));
  const native = fileURLToPath(new URL("../../../native", import.meta.url));
  const hash = createHash("sha256");
  for (const folder of [...runByParties.map((folder) => join(source, folder)), native]) {
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
