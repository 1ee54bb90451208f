/**
 * Writes api/*.api.md: the public surface of the library, a page per subpath, from the declarations in dist/types. A
 * change of an exported type shows there and is reviewed there; test/api.test.ts fails until it does.
 *
 *   npm run build && npm run api
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSync } from "rolldown/utils";
import { subpaths } from "./subpaths.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const types = join(root, "dist", "types");

/** A declaration file: what it declares, imports and exports, by name. */
class Declarations {
  static #read = new Map();
  declared = new Map();
  imported = new Map();
  exported = new Map();
  starred = [];

  /** @returns {Declarations} */
  static of(path) {
    if (!this.#read.has(path)) this.#read.set(path, new Declarations(path));
    return this.#read.get(path);
  }

  constructor(path) {
    const text = readFileSync(path, "utf8");
    const { program, comments } = parseSync(path, text);
    const fileOf = (source) =>
      source.startsWith(".") ? resolve(dirname(path), source.replace(/\.[jt]s$/, ".d.ts")) : null;
    const declare = (node, statement) => {
      for (const { id } of node.declarations ?? [node]) {
        const before = text.slice(0, statement.start).trimEnd();
        const isDocumented = comments.some(({ value, end }) => value.startsWith("*") && end === before.length);
        this.declared.set(id.name, { node: statement, text: withoutComments(text, statement, comments), isDocumented });
      }
    };
    for (const statement of program.body) {
      const { type, declaration, specifiers = [], source } = statement;
      const file = source ? fileOf(source.value) : null;
      if (type === "ImportDeclaration")
        for (const { local, imported } of specifiers) this.imported.set(local.name, { file, name: imported?.name });
      else if (type === "ExportAllDeclaration") this.starred.push(file);
      else if (type === "ExportNamedDeclaration" && declaration) {
        declare(declaration, statement);
        for (const { id } of declaration.declarations ?? [declaration]) this.exported.set(id.name, { name: id.name });
      } else if (type === "ExportNamedDeclaration")
        for (const { local, exported } of specifiers) this.exported.set(exported.name, { file, name: local.name });
      else if (statement.id || statement.declarations) declare(statement, statement);
    }
    this.path = path;
  }

  /** Every name that the file exports, with the file that declares it. */
  exports() {
    const found = new Map();
    for (const file of this.starred)
      for (const [name, place] of Declarations.of(file).exports()) found.set(name, place);
    for (const [name, { file, name: local }] of this.exported)
      found.set(name, file ? Declarations.of(file).exports().get(local) : this.resolve(local));
    return found;
  }

  /** Where a name that this file uses is declared; null: by the language or by another package. */
  resolve(name) {
    if (this.declared.has(name)) return { file: this.path, name };
    const imported = this.imported.get(name);
    return imported?.file ? (Declarations.of(imported.file).exports().get(imported.name) ?? null) : null;
  }
}

function withoutComments(text, { start, end }, comments) {
  let code = text.slice(start, end);
  for (const comment of comments.filter((each) => each.start >= start && each.end <= end).toReversed())
    code = code.slice(0, comment.start - start) + code.slice(comment.end - start);
  return code
    .replaceAll(/[ \t]+$/gm, "")
    .replaceAll(/\n{2,}/g, "\n")
    .replace(/^export (?=declare|interface|type)/, "");
}

/** Where declarations name other ones: in types, after `typeof`, `extends` and `implements`. */
const referring = new Set(["typeName", "exprName", "superClass", "expression"]);

/** Names that a declaration refers to. */
function* namesIn(node, key = "") {
  if (Array.isArray(node)) for (const each of node) yield* namesIn(each, key);
  else if (node !== null && typeof node === "object") {
    if (node.type === "Identifier" && referring.has(key)) yield node.name;
    if (node.type === "TSQualifiedName") yield* namesIn(node.left, "typeName");
    else for (const [name, each] of Object.entries(node)) yield* namesIn(each, name);
  }
}

/** @returns {{ text: string, exported: string[], hidden: string[], undocumented: string[] }} of one subpath */
export function apiReport(subpath) {
  const entry = Declarations.of(join(types, "api", `${subpath}.d.ts`));
  const exported = [...entry.exports()].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const seen = new Map();
  const visit = (place) => {
    const key = `${place.name} ${place.file}`;
    if (seen.has(key)) return;
    const module = Declarations.of(place.file);
    const declaration = module.declared.get(place.name);
    seen.set(key, { ...place, ...declaration });
    for (const name of namesIn(declaration.node)) {
      const found = module.resolve(name);
      if (found !== null) visit(found);
    }
  };
  for (const [, place] of exported) visit(place);
  const isExported = new Set(exported.map(([, { name, file }]) => `${name} ${file}`));
  const of = (keys) => keys.map((key) => seen.get(key).text).join("\n\n");
  const hidden = [...seen.keys()].filter((key) => !isExported.has(key)).toSorted((a, b) => (a < b ? -1 : 1));
  const name = subpath === "index" ? "@tandem-vfl/tandem" : `@tandem-vfl/tandem/${subpath}`;
  const parts = [
    `# API of \`${name}\``,
    "Written by `npm run api` from the declarations of the package. Do not edit it.",
    `\`\`\`ts\n${of(exported.map(([, place]) => `${place.name} ${place.file}`))}\n\`\`\``,
    ...(hidden.length === 0 ? [] : ["## Types that these refer to", `\`\`\`ts\n${of(hidden)}\n\`\`\``]),
  ];
  return {
    text: `${parts.join("\n\n")}\n`,
    exported: exported.map(([each]) => each),
    hidden: hidden.map((key) => seen.get(key).name),
    undocumented: exported
      .filter(([, { name: each, file }]) => !seen.get(`${each} ${file}`).isDocumented)
      .map(([each]) => each),
  };
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  mkdirSync(join(root, "api"), { recursive: true });
  for (const subpath of subpaths) writeFileSync(join(root, "api", `${subpath}.api.md`), apiReport(subpath).text);
}
