/**
 * Builds dist/ from nothing, as `npm run build` and, in a clone, as npm's `prepare` step (scripts/prepare.mjs). Says
 * nothing when all is well. Otherwise it prints the output of the tool that failed, and exits with 1. Types are not
 * checked here: `npm run types` does.
 */
import { spawnSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
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
  rmSync(join(root, "dist"), { recursive: true, force: true });
  for (const [tool, ...options] of steps) run(tool, options);
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

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) build();
