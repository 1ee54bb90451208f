/**
 * Builds dist/ from nothing, as `npm run build` and, in a clone, as npm's `prepare` step (scripts/prepare.mjs). Says
 * nothing when all is well. Otherwise it prints the output of the tool that failed, and exits with 1. Types are not
 * checked here: `npm run types` does.
 *
 *   node scripts/build.mjs                 always
 *   node scripts/build.mjs --if-changed    unless dist/ was built from these sources, as by `npm ci` before `npm test`
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const binFolder = join(root, "node_modules", ".bin");

const steps = [
  ["buf", "generate"],
  ["tsc", "-p", "tsconfig.build.json"],
  ["node", "scripts/library-types.mjs"],
  ["node", "scripts/bundle.mjs"],
];

/** @returns {string[]} the tools that are not installed; scripts/bundle.mjs calls the last two */
export function missingTools() {
  return ["buf", "tsc", "rolldown", "vite"].filter((tool) => !existsSync(join(binFolder, tool)));
}

export function build() {
  rmSync(builtFrom, { force: true });
  rmSync(join(root, "dist"), { recursive: true, force: true });
  for (const [tool, ...options] of steps) run(tool, options);
  mkdirSync(join(root, "build"), { recursive: true });
  writeFileSync(builtFrom, inputHash());
}

/** The hash of what dist/ was built from; it is not in dist/, which is packed. */
const builtFrom = join(root, "build", "dist.sha256");
const inputs = ["src", "lab", "web", "proto", "scripts", "bin"];
const settings = /^(package(-lock)?|tsconfig.*)\.json$|^buf.*\.yaml$/;

/** @returns {string} of names and contents of all sources and settings, generated files included */
function inputHash() {
  const hash = createHash("sha256").update(process.version);
  const folders = inputs.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true }).map((name) => join(folder, name)),
  );
  const files = [...folders, ...readdirSync(root).filter((name) => settings.test(name))].toSorted();
  for (const name of files) {
    if (!statSync(join(root, name)).isFile()) continue;
    const content = readFileSync(join(root, name));
    hash.update(`\0${name}\0${content.length}\0`).update(content);
  }
  return hash.digest("hex");
}

function isCurrent() {
  return existsSync(builtFrom) && existsSync(join(root, "dist")) && readFileSync(builtFrom, "utf8") === inputHash();
}

function run(tool, options) {
  // buf looks for its protoc plugin on the PATH; npm puts .bin there, `node scripts/build.mjs` alone would not.
  const env = { ...process.env, PATH: `${binFolder}${delimiter}${process.env.PATH ?? ""}` };
  // On Windows the tools are .cmd files, which only a shell can run.
  const shell = process.platform === "win32";
  const result = spawnSync(tool, options, { cwd: root, env, encoding: "utf8", shell });
  if (result.status === 0) return;
  process.stderr.write(`${result.stdout ?? ""}${result.stderr ?? ""}`);
  const end = result.signal === null ? `exit code ${result.status}` : `signal ${result.signal}`;
  console.error(`tandem: \`${[tool, ...options].join(" ")}\` failed (${result.error?.message ?? end})`);
  process.exit(1);
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  if (!process.argv.includes("--if-changed") || !isCurrent()) build();
}
