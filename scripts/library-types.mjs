/**
 * The types of the library. tsc writes a declaration for every module that the library runs; this keeps those that its
 * entry can name, without packages that are imported for their side effects only, and writes dist/index.d.ts.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const dist = fileURLToPath(new URL("../dist", import.meta.url));
const types = join(dist, "types");

/** Every declaration that can be reached from `path`, in `seen`. */
function visit(path, seen) {
  if (seen.has(path)) return;
  seen.add(path);
  const text = readFileSync(path, "utf8").replaceAll(/^import "[^."][^"]*";\n/gm, "");
  writeFileSync(path, text);
  for (const [, specifier] of text.matchAll(/(?:\bfrom|\bimport\()\s*"(\.[^"\n]+)\.[jt]s"/g))
    visit(join(dirname(path), `${specifier}.d.ts`), seen);
}

const wanted = new Set();
visit(join(types, "index.d.ts"), wanted);
for (const name of readdirSync(types, { recursive: true, encoding: "utf8" })) {
  if (name.endsWith(".d.ts") && !wanted.has(join(types, name))) rmSync(join(types, name));
}
writeFileSync(join(dist, "index.d.ts"), 'export * from "./types/index.js";\n');
