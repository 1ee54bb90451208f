/**
 * npm's `prepare` step in a clone: builds dist/ and makes `npx tandem` work at once. Says nothing when all is well;
 * on failure prints the failing tool's output and exits with 1, which fails `npm ci`.
 */
import { spawnSync } from "node:child_process";
import { existsSync, lstatSync, mkdirSync, symlinkSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const binFolder = join(root, "node_modules", ".bin");
const onWindows = process.platform === "win32";

const steps = [
  ["buf", "generate"],
  ["tsc", "-p", "tsconfig.build.json"],
  ["vite", "build", "web", "--logLevel", "error"],
];

function main() {
  // The first `npx tandem` in a clone makes npm link the clone into its cache and run this step again. A failure here
  // would leave that cache broken for good, so nothing is done: bin/tandem.js itself says what is missing.
  if (process.env.npm_command === "exec") return;
  const built = existsSync(join(root, "dist", "cli", "main.js"));
  const missing = steps.map(([tool]) => tool).filter((tool) => !existsSync(join(binFolder, tool)));
  if (missing.length === 0) {
    for (const [tool, ...options] of steps) run(tool, options);
  } else if (!built) {
    // A production install without development tools is fine, but only of a package that was built before.
    fail(
      `dist/ is missing and cannot be built without ${missing.join(" and ")}; run \`npm ci\` with development dependencies`,
    );
  }
  if (!onWindows) linkCommand();
}

function run(tool, options) {
  // buf looks for its protoc plugin on the PATH; npm puts .bin there, `node scripts/prepare.mjs` alone would not.
  const env = { ...process.env, PATH: `${binFolder}${delimiter}${process.env.PATH ?? ""}` };
  // On Windows the tools are .cmd files, which only a shell can run.
  const result = spawnSync(tool, options, { cwd: root, env, encoding: "utf8", shell: onWindows });
  if (result.status === 0) return;
  process.stderr.write(`${result.stdout ?? ""}${result.stderr ?? ""}`);
  const reason =
    result.error?.message ?? (result.signal === null ? `exit code ${result.status}` : `signal ${result.signal}`);
  fail(`\`${[tool, ...options].join(" ")}\` failed (${reason})`);
}

/** npm links the commands of dependencies, but not the package's own; older npx and a PATH with .bin need the link. */
function linkCommand() {
  const link = join(binFolder, "tandem");
  // lstat: a dangling link counts as there.
  if (lstatSync(link, { throwIfNoEntry: false }) !== undefined) return;
  mkdirSync(binFolder, { recursive: true });
  symlinkSync(join("..", "..", "bin", "tandem.js"), link);
}

function fail(message) {
  console.error(`tandem: ${message}`);
  process.exit(1);
}

main();
