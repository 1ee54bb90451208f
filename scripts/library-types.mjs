/**
 * The types of the library. tsc writes a declaration for every module that the library runs; this keeps those that its
 * entry can name, without packages that are imported for their side effects only, and writes dist/index.d.ts. Comments
 * stay where the entry itself takes something from.
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
  writeFileSync(path, readFileSync(path, "utf8").replaceAll(/^import "[^."][^"]*";\n/gm, ""));
  for (const imported of importsOf(path)) visit(imported, seen);
}

function importsOf(path) {
  const specifiers = readFileSync(path, "utf8").matchAll(/(?:\bfrom|\bimport\()\s*"(\.[^"\n]+)\.[jt]s"/g);
  return Array.from(specifiers, ([, specifier]) => join(dirname(path), `${specifier}.d.ts`));
}

function withoutComments(text) {
  return text.replaceAll(/^[ \t]*\/\*\*(?:[^*]|\*(?!\/))*\*\/[ \t]*\n/gm, "");
}

const entry = join(types, "index.d.ts");
const wanted = new Set();
visit(entry, wanted);
const named = new Set([entry, ...importsOf(entry)]);
for (const path of wanted) if (!named.has(path)) writeFileSync(path, withoutComments(readFileSync(path, "utf8")));
for (const name of readdirSync(types, { recursive: true, encoding: "utf8" })) {
  if (name.endsWith(".d.ts") && !wanted.has(join(types, name))) rmSync(join(types, name));
}
writeFileSync(join(dist, "index.d.ts"), 'export * from "./types/index.js";\n');
