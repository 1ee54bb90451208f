/**
 * Builds the Python package with the program in it: python/dist/tandem_vfl-<version>-py3-none-<platform>.whl. The
 * program is installed as npm installs it for a user, with the addon that `npm ci` has compiled in this clone. dist/
 * must be built.
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

/** What runs needs none of these: sources and maps for debuggers, types, and C++ that was compiled. */
const unneeded = /\.(map|[cm]?ts|cpp|h)$/;

function run(command, options, cwd) {
  // Settings of the npm that runs this script are not those of a user.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("npm_")));
  return execFileSync(command, options, { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
}

const scratch = mkdtempSync(join(tmpdir(), "tandem-wheel-"));
try {
  const [{ filename }] = JSON.parse(
    run("npm", ["pack", "--ignore-scripts", "--json", "--pack-destination", scratch], root),
  );
  const stage = join(scratch, "stage");
  mkdirSync(stage);
  writeFileSync(join(stage, "package.json"), '{ "private": true }\n');
  run(
    "npm",
    ["install", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts", join(scratch, filename)],
    stage,
  );
  rmSync(target, { recursive: true, force: true });
  const isNeeded = (path) => !unneeded.test(path) && !path.endsWith("/node_modules/node-api-headers");
  cpSync(join(stage, "node_modules"), join(target, "node_modules"), {
    recursive: true,
    dereference: true,
    filter: isNeeded,
  });
  const addon = join(target, "node_modules", "@tandem-vfl", "tandem", "build");
  mkdirSync(addon);
  for (const name of ["tandem.node", "tandem.node.sha256"]) cpSync(join(root, "build", name), join(addon, name));
  rmSync(join(target, "node_modules", ".bin"), { recursive: true, force: true });
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  writeFileSync(join(target, "package.json"), `${JSON.stringify({ version })}\n`);
  const out = join(root, "python", "dist");
  rmSync(out, { recursive: true, force: true });
  run(python, ["-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", out, join(root, "python")], root);
  for (const name of readdirSync(out)) console.log(join("python", "dist", name));
} finally {
  rmSync(scratch, { recursive: true, force: true });
  // In a clone, Python runs the clone's own program.
  for (const made of [target, join(root, "python", "build")]) rmSync(made, { recursive: true, force: true });
}
