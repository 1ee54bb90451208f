/**
 * The types of the library. tsc writes a declaration for every module that the library runs; this keeps those that its
 * entries can name, without packages that are imported for their side effects only. Comments stay where an entry itself
 * takes something from.
 *
 * Options that are inferred from tables and schemas (src/api/parameters.ts) are written out, with what docs/config.md
 * and the tables say of each field.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { importSources } from "./import-sources.mjs";
import { subpaths } from "./subpaths.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const types = join(root, "dist", "types");

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

/** Puts what the functions of src/api/parameters.ts return in place of `ReturnType<typeof name>`. */
function writtenOut(text, helpOf) {
  const bodies = new Map();
  const rest = text.replaceAll(/^declare function (\w+)\(\): (\{\n[\s\S]*?^\});\n/gm, (_, name, body) => {
    bodies.set(name, withHelp(body, helpOf[name]));
    return "";
  });
  return rest.replaceAll(/ReturnType<typeof (\w+)>/g, (whole, name) => bodies.get(name) ?? whole);
}

/**
 * The compiler's order of fields depends on the order in which it reads files: they are put into the order of `help`.
 * @param {Map<string, string>} help by field; fields of an object within are separated by dots
 */
function withHelp(body, help) {
  const places = new Map([...help.keys()].map((field, place) => [field, place]));
  const inner = body.split("\n").slice(1, -1);
  return ["{", ...fieldsIn(inner, "    ", "", help, places), "}"].join("\n");
}

function fieldsIn(lines, indent, parent, help, places) {
  const fields = [];
  for (const line of lines) {
    const [, name] = new RegExp(`^${indent}"?(\\w+)"?\\??:`).exec(line) ?? [];
    if (name === undefined) fields.at(-1).lines.push(line);
    else fields.push({ path: `${parent}${name}`, lines: [line] });
  }
  const placeOf = ({ path }) => places.get(path) ?? [...places.keys()].findIndex((each) => each.startsWith(`${path}.`));
  fields.sort((a, b) => placeOf(a) - placeOf(b) || (a.path < b.path ? -1 : 1));
  return fields.flatMap(({ path, lines: own }) => {
    const words = help.get(path);
    const inner = own.slice(1, -1);
    const isObject = inner.length > 0 && inner.every((line) => line.startsWith(`${indent}    `));
    return [
      ...(words === undefined ? [] : [`${indent}/** ${words} */`]),
      ...(isObject ? [own[0], ...fieldsIn(inner, `${indent}    `, `${path}.`, help, places), own.at(-1)] : own),
    ];
  });
}

function helpIn(table) {
  return new Map(
    Object.entries(table).map(([name, { help, default: value }]) => [
      name,
      `${help}. Default: ${Array.isArray(value) ? value.join(", ") || "none" : value}.`,
    ]),
  );
}

/** Rows of docs/config.md: field, default and meaning, without links. */
function helpInPage(page) {
  const rows = page.matchAll(/^\| `([\w.[\]]+)` +\| (.*?) +\| (.*?) +\|$/gm);
  return new Map(
    Array.from(rows, ([, field, value, meaning]) => {
      const words = meaning.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll("*/", "* /");
      const given = value.trim() === "" ? "" : ` Default: ${value.trim().replaceAll("`", "")}.`;
      return [field.replaceAll("[]", ""), `${words.replace(/\.$/, "")}.${given}`];
    }),
  );
}

const [{ trainingParameters }, { privacyParameters }] = await importSources(
  "src/gbdt/parameters/training-parameters.ts",
  "src/privacy/defences/defences.ts",
);
const config = helpInPage(readFileSync(join(root, "docs", "config.md"), "utf8"));
const parameters = join(types, "api", "parameters.d.ts");
const helpOf = {
  training: helpIn(trainingParameters),
  privacy: helpIn(privacyParameters),
  active: config,
  passive: config,
};
writeFileSync(parameters, writtenOut(readFileSync(parameters, "utf8"), helpOf));

const entries = subpaths.map((name) => join(types, "api", `${name}.d.ts`));
const wanted = new Set();
for (const entry of entries) visit(entry, wanted);
const named = new Set([...entries, ...entries.flatMap(importsOf)]);
for (const path of wanted) if (!named.has(path)) writeFileSync(path, withoutComments(readFileSync(path, "utf8")));
for (const name of readdirSync(types, { recursive: true, encoding: "utf8" })) {
  if (name.endsWith(".d.ts") && !wanted.has(join(types, name))) rmSync(join(types, name));
}
