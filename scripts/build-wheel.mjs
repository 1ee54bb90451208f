/**
 * Builds the Python package with the program in it: python/dist/tandem_vfl-<version>-py3-none-<platform>.whl. The
 * program is installed as npm installs it for a user, with the addon compiled for this platform. dist/ must be built.
 *
 *   npm run wheel
 */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const python = process.env.PYTHON ?? "python3";
const target = join(root, "python", "src", "tandem", "_program");

/** What a program at a user's machine does not need of packages: sources for debuggers, types, and C++ that was compiled. */
const unneeded = /\.(map|d\.[cm]?ts|cpp|h)$/;

function run(command, options, cwd) {
  // Settings of the npm that runs this script are not those of a user.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("npm_")));
  return execFileSync(command, options, { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
}

const scratch = mkdtempSync(join(tmpdir(), "tandem-wheel-"));
try {
  const [{ filename }] = JSON.parse(run("npm", ["pack", "--ignore-scripts", "--json", "--pack-destination", scratch], root));
  const stage = join(scratch, "stage");
  mkdirSync(stage);
  writeFileSync(join(stage, "package.json"), '{ "private": true }\n');
  run("npm", ["install", "--no-audit", "--no-fund", "--no-package-lock", join(scratch, filename)], stage);
  rmSync(target, { recursive: true, force: true });
  const isNeeded = (path) => !unneeded.test(path) && !path.endsWith("/node_modules/node-api-headers");
  cpSync(join(stage, "node_modules"), join(target, "node_modules"), { recursive: true, dereference: true, filter: isNeeded });
  rmSync(join(target, "node_modules", ".bin"), { recursive: true, force: true });
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  writeFileSync(join(target, "package.json"), `${JSON.stringify({ version })}\n`);
  const out = join(root, "python", "dist");
  rmSync(out, { recursive: true, force: true });
  run(python, ["-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", out, join(root, "python")], root);
  for (const name of readdirSync(out)) console.log(join("python", "dist", name));
} finally {
  rmSync(scratch, { recursive: true, force: true });
  rmSync(join(root, "python", "build"), { recursive: true, force: true });
}
