/**
 * Installs the package as a user does, and uses it: packs it, installs it into an empty folder, runs the command and
 * imports the library. dist/ must be built.
 *
 *   npm run test:package
 *
 * Prints its size, and exits with 1 at the first thing that does not work.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "tandem-package-"));
const empty = join(folder, "empty");

const { name, version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

const consumer = `import { type ActiveConfig, type ErrorCode, TandemError, train as trainBetween } from "${name}";
import { train, type TrainingParameters } from "${name}/gbdt";
import { type Scheme, schemeNames } from "${name}/scheme";
import { simulate, type SimulateOptions } from "${name}/simulate";

const code: ErrorCode = new TandemError("USAGE", "as an example").code;
const parameters: TrainingParameters = { objective: "reg:squarederror", num_round: 2 };
const { model } = await train({ x: [1, 2, 3, 4], y: [1, 2, 3, 4] }, { label: "y", parameters });
const nameOf = (scheme: Scheme): string => scheme.name;
const options: SimulateOptions = { label: "y", active: ["x"], passives: [["z"]] };
const start: (config: string | ActiveConfig) => Promise<{ readonly job: string }> = trainBetween;
console.log(code, model.treeCount, schemeNames().join(), nameOf.length, options.label, simulate.name, start.name);
`;

function run(command, ...options) {
  // Settings of the npm that runs this script are not those of a user.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("npm_")));
  const shell = process.platform === "win32";
  return execFileSync(command, options, {
    cwd: empty,
    env,
    shell,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
}

function check(what, holds, details) {
  if (!holds) throw new Error(`${what}: ${details}`);
}

function pack() {
  const flags = ["--ignore-scripts", "--json", "--pack-destination", folder];
  const [{ filename, size, entryCount }] = JSON.parse(run("npm", "pack", root, ...flags));
  console.log(`${filename}: ${Math.round(size / 1000)} kB, ${entryCount} files`);
  return join(folder, filename);
}

function installed(tarball) {
  writeFileSync(join(empty, "package.json"), '{ "private": true, "type": "module" }\n');
  run("npm", "install", "--prefer-offline", "--no-audit", "--no-fund", tarball);
  const packages = readdirSync(join(empty, "node_modules")).filter((name) => !name.startsWith("."));
  check("development tools are not installed", !packages.includes("vitest"), packages.join(" "));
  const addon = join(empty, "node_modules", name, "build", "tandem.node");
  check("the addon is compiled at install", existsSync(addon), `${addon} is missing`);
  // What npm lists is what `npm audit` looks at.
  const { dependencies } = JSON.parse(run("npm", "ls", "--all", "--json")).dependencies[name];
  const missing = ["commander", "zod", "pg", "hyparquet"].filter((each) => !Object.hasOwn(dependencies, each));
  check("npm sees what runs", missing.length === 0, `without ${missing.join(" ")}`);
}

function theCommandWorks() {
  for (const called of ["tandem", name]) {
    const said = run("npx", "--no-install", called, "--version").trim();
    check(`${called} --version`, said === version, said);
  }
  const demo = run("npx", "--no-install", "tandem", "demo", "--rows", "300", "--num-round", "1", "--quiet");
  check("the demo compares", /federated equals centralised\? +yes: every split/.test(demo), demo);
  const lines = demo.trim().split("\n");
  check("the demo ends with what it did", lines.at(-1).endsWith(" of CPU in all parties"), lines.slice(-3).join("\n"));
}

/** As after `npm install --omit=optional`. */
function optionalPackagesAreNamed() {
  rmSync(join(empty, "node_modules", "hyparquet"), { recursive: true });
  writeFileSync(join(empty, "table.parquet"), "PAR1");
  const options = ["--data", "table.parquet", "--label", "y", "--active", "a", "--passive", "b"];
  let said = "";
  try {
    said = run("npx", "--no-install", "tandem", "simulate", ...options);
  } catch (error) {
    said = error.stderr;
  }
  check("a missing package is named", said.includes("run: npm install hyparquet hyparquet-compressors"), said);
}

function theLibraryWorks() {
  writeFileSync(join(empty, "consumer.ts"), consumer);
  const tsc = join(root, "node_modules", ".bin", "tsc");
  const types = join(root, "node_modules", "@types");
  const options = ["--module", "nodenext", "--target", "es2023", "--strict", "--typeRoots", types, "--types", "node"];
  run(tsc, ...options, "consumer.ts");
  const said = run(process.execPath, "consumer.js").trim();
  check("the library is imported", said === "USAGE 2 paillier,curve,lattice 1 y simulate train", said);
}

try {
  mkdirSync(empty);
  installed(pack());
  theCommandWorks();
  theLibraryWorks();
  optionalPackagesAreNamed();
} catch (error) {
  console.error(`the package does not work: ${error.message}\n${error.stdout ?? ""}${error.stderr ?? ""}`);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
