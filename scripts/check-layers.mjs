/**
 * Checks the direction of imports between the folders of src/, and from web/ into them (ARCHITECTURE.md).
 *
 *   node scripts/check-layers.mjs [root]
 *
 * Prints one line per wrong import and exits with 1. Sees static imports, `export ... from`, `import()` (also in types)
 * and `require()` of relative paths, and of the package's own name. A run that saw no modules or no imports fails: it
 * would have passed whatever the tree.
 */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

const belowScheme = ["base", "wire", "messages", "codec", "gbdt", "privacy", "privacy/defences"];
const belowRoles = [...belowScheme, "scheme", "scheme/candidates"];

/**
 * Folder -> what it may import besides itself, from the ground up. A folder within a folder that has a line of its own
 * is a layer of its own; otherwise it belongs to the folder around it.
 */
const below = {
  base: [],
  // Its folders: a layer that may import `base` may import them too, except each other.
  "base/text": ["base"],
  "base/files": ["base"],
  "base/scheduling": ["base"],
  "base/listening": ["base"],
  "base/parameters": ["base", "base/text"],
  "base/rows": ["base", "base/text"],
  "base/statistics": ["base"],
  "base/noise": ["base"],
  "base/gradients": ["base", "base/noise"],
  wire: ["base"],
  // The table of messages: functions of messages alone.
  messages: ["base", "wire"],
  crypto: ["base"],
  codec: ["base", "crypto"],
  // The table of defences: what can be asked for, compared and said of each. They hold elsewhere.
  "privacy/defences": ["base"],
  gbdt: ["base", "privacy/defences"],
  data: ["base"],
  psi: ["base", "crypto"],
  privacy: ["base", "messages", "gbdt", "privacy/defences"],
  // Who is in a node and what is offered there: whatever the cipher.
  "scheme/candidates": ["base", "wire", "gbdt"],
  // Scores without outcomes: a cipher of its own, beside the scheme that trains.
  "scheme/masked": ["base", "wire", "crypto", "gbdt"],
  // Outcomes of a node's people only, to a party that does not say who they are: beside the scheme as well.
  "scheme/outcomes": ["base", "crypto"],
  // The best candidate of sums in shares: beside the scheme too.
  "scheme/maximum": ["base", "crypto", "scheme/candidates"],
  // Attacks on our own transcripts: they need to know what travels, and no cipher.
  "privacy/attack": ["base", "wire", "messages", "gbdt", "privacy", "scheme/candidates"],
  scheme: ["base", "wire", "crypto", "codec", "gbdt", "scheme/candidates"],
  // The protocol knows no cipher: that is the scheme's.
  protocol: belowRoles,
  "protocol/active": [...belowRoles, "scheme/masked", "scheme/outcomes", "scheme/maximum", "protocol"],
  "protocol/passive": [...belowRoles, "scheme/masked", "scheme/outcomes", "scheme/maximum", "protocol"],
  // Between a party and its workers: messages, and the engine that carries them.
  crew: ["base", "wire", "scheme"],
  // The transport knows no roles: it forwards whatever the wire has.
  transport: ["base", "wire", "psi"],
  // A server that joins connections: it knows nothing of what passes.
  relay: ["base", "transport"],
  store: ["base", "gbdt", "scheme", "protocol", "protocol/active", "protocol/passive"],
  // What the terminal, the page and the report are made from.
  record: ["base", "messages", "codec", "gbdt", "privacy", "privacy/defences", "scheme", "crew", "protocol"],
};
const belowParty = Object.keys(below);

export const layers = {
  ...below,
  party: belowParty,
  "party/model": [...belowParty, "party"],
  scoring: [...belowParty, "party", "party/model"],
  "party/active": [...belowParty, "party", "party/model"],
  "party/passive": [...belowParty, "party", "party/model", "scoring"],
  "scoring/http": [...belowParty, "party", "party/model", "scoring"],
  // Views of records, for the page and for reports. It is not a folder of src/, but beside it.
  web: ["base", "codec", "gbdt", "privacy", "privacy/defences", "protocol", "record"],
  dashboard: ["base", "record", "web"],
  // Looks at jobs that are over, with the parties' own ways of reading data.
  verify: [...belowParty, "party", "party/model", "party/active", "party/passive", "scoring"],
  simulate: [...belowParty, "party", "party/model", "party/active", "party/passive", "scoring", "scoring/http"],
};
const all = Object.keys(layers);
// The library, which the command may use and nothing below it.
layers.api = all;
layers.cli = [...all, "api"];

/** Folders with a half for each role: modules named `active*` and `passive*` belong to that role's layer. */
export const bothRoles = ["protocol/sent", "protocol/hidden"];

/** Modules that only their own folder may import: what they hold means nothing elsewhere. Tests elsewhere neither. */
export const folderOnly = ["crypto/paillier/resident-bytes.ts"];

const packageName = "@tandem-vfl/tandem";

const statementForms = [
  /(?:^|;)[ \t]*import\s*(["'])(?<specifier>[^"'\n]+)\1/gm,
  /(?:^|;)[ \t]*import\b(?!\s*["'(.])[\s\S]*?\bfrom\s*(["'])(?<specifier>[^"'\n]+)\1/gm,
  /(?:^|;)[ \t]*export\b\s*(?:type\b\s*)?(?:\*[^"']*?|\{[^}]*\}\s*)\bfrom\s*(["'])(?<specifier>[^"'\n]+)\1/gm,
];
const callForm = /\b(?:import|require)\s*\(\s*(["'`])(?<specifier>[^"'`\n]+)\1/g;

/**
 * @param {string} root the folder that holds src/
 * @returns {{ violations: string[], moduleCount: number, importCount: number }}
 */
export function checkLayers(root) {
  const source = join(root, "src");
  const violations = unknownEntries(source);
  let importCount = 0;
  const modules = [...typescriptFiles(source), ...typescriptFiles(join(root, "web"))];
  for (const path of modules) {
    for (const { specifier, line } of importsOf(readFileSync(path, "utf8"))) {
      importCount++;
      const target = resolveImport(source, path, specifier);
      if (target === undefined) continue;
      const from = layerOf(source, path);
      const to = layerOf(source, target);
      if (folderOnly.includes(shown(source, target)) && dirname(path) !== dirname(target)) {
        violations.push(`${shown(root, path)}:${line} may not import ${shown(root, target)} (only its folder may)`);
        continue;
      }
      if (mayImport(from, to, /\.test\.tsx?$/.test(path))) continue;
      violations.push(`${shown(root, path)}:${line} may not import ${shown(root, target)} (${from} -> ${to})`);
    }
  }
  if (modules.length === 0) violations.push(`src: no modules found under ${source}; nothing was checked`);
  else if (importCount === 0)
    violations.push(`src: no imports found in ${modules.length} modules; nothing was checked`);
  return { violations, moduleCount: modules.length, importCount };
}

/**
 * Every import in a module's text. Statements are found where a statement can start (a line's beginning, or after a
 * semicolon), which keeps prose in comments out; import() and require() anywhere but on comment lines.
 * @param {string} text
 * @returns {{ specifier: string, line: number }[]} in order of appearance
 */
export function importsOf(text) {
  const found = [];
  for (const form of statementForms) found.push(...text.matchAll(form));
  for (const match of text.matchAll(callForm)) {
    const lineStart = text.lastIndexOf("\n", match.index) + 1;
    if (!/^\s*(?:\/\/|\/\*|\*)/.test(text.slice(lineStart, match.index + 1))) found.push(match);
  }
  found.sort((a, b) => a.index - b.index);
  return found.map((match) => {
    // The line of the import's path: that is what has to change.
    const end = match.index + match[0].length;
    return { specifier: match.groups.specifier, line: text.slice(0, end).split("\n").length };
  });
}

function mayImport(from, to, fromTest) {
  if (from === to) return true;
  if (to === "outside src") return fromTest;
  if (fromTest && belowParty.includes(to)) return true;
  if (!Object.hasOwn(layers, from)) return false;
  return layers[from].includes(to) || (isOfBase(to) && !isOfBase(from) && layers[from].includes("base"));
}

function isOfBase(layer) {
  return layer === "base" || layer.startsWith("base/");
}

/** @returns the file that an import names, or undefined if it is another package's */
function resolveImport(source, importer, specifier) {
  if (specifier === packageName || specifier.startsWith(`${packageName}/`)) return join(source, "api", "index.ts");
  return specifier.startsWith(".") ? resolve(dirname(importer), specifier) : undefined;
}

function layerOf(source, path) {
  const [first, ...rest] = relative(source, path).split(sep);
  if (first === "..") return rest[0] === "web" ? "web" : "outside src";
  const half = bothRoles.includes(`${first}/${rest[0]}`) ? /^(active|passive)\b/.exec(rest[1] ?? "") : null;
  if (half !== null) return `${first}/${half[1]}`;
  if (rest.length > 1 && Object.hasOwn(layers, `${first}/${rest[0]}`)) return `${first}/${rest[0]}`;
  return first;
}

/** Folders and files directly under src/ that the table does not know. */
function unknownEntries(source) {
  if (!existsSync(source)) return [];
  return readdirSync(source, { withFileTypes: true })
    .map((entry) => (entry.isDirectory() ? entry.name : layerOf(source, join(source, entry.name))))
    .filter((layer) => !Object.hasOwn(layers, layer))
    .map((layer) => `src/${layer}: not a known layer; scripts/check-layers.mjs says what each may import`);
}

function typescriptFiles(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort();
}

function shown(root, path) {
  return relative(root, path).split(sep).join("/");
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const root = resolve(process.argv[2] ?? fileURLToPath(new URL("..", import.meta.url)));
  const { violations } = checkLayers(root);
  for (const violation of violations) console.error(violation);
  if (violations.length > 0) process.exitCode = 1;
}
