/**
 * Compiles the C++ files below native/ into build/tandem.node, with the system's C++ compiler and nothing else: no
 * node-gyp, no download. Runs as npm's install script, in a clone and as an installed dependency. The build is skipped
 * when sources, compiler and flags are unchanged. Without a compiler Tandem still works, on the portable kernel: then
 * this prints one line and succeeds.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { availableParallelism } from "node:os";
import { dirname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const sourceFolder = join(root, "native");
const buildFolder = join(root, "build");
const output = join(buildFolder, "tandem.node");
const hashFile = join(buildFolder, "tandem.node.sha256");

// `npm rebuild` does not run the scripts of a clone's own package.
const remedy = root.split(sep).includes("node_modules")
  ? "npm rebuild @tandem-vfl/tandem"
  : "node scripts/build-native.mjs";
const portableNotice = `tandem: no native kernel, the slower portable one is used; install g++ and run: ${remedy}`;

/** The header folder of node-api-headers, wherever npm put it. */
function headerFolder() {
  const require = createRequire(import.meta.url);
  return join(dirname(require.resolve("node-api-headers/package.json")), "include");
}

/** The first compiler that runs, as [command, ...arguments], with its version text; CXX wins over the usual names. */
async function findCompiler() {
  const wanted = process.env.CXX?.trim();
  const candidates = wanted ? [wanted.split(/\s+/)] : [["g++"], ["c++"], ["clang++"]];
  for (const [command, ...rest] of candidates) {
    try {
      const { stdout } = await run(command, [...rest, "--version"]);
      return { command, leading: rest, version: stdout };
    } catch {
      // Not this one.
    }
  }
  return undefined;
}

/** What makes a memory error a crash instead of a way in: canaries, and checked copies. -U: some compilers set it. */
const hardening = ["-fstack-protector-strong", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2"];

function compileFlags(headers) {
  const shared = ["-O2", "-fPIC", "-std=c++17", "-pthread", "-fvisibility=hidden", "-Wall", "-Wextra"];
  // Exact sums of doubles (lattice-lane-modulus.h) are rounded where they say so, not where an FMA would be quicker.
  return [...shared, "-ffp-contract=off", ...hardening, `-I${headers}`];
}

/** Headers of most files: read once, they cost a fifth of the time less. What a file needs it includes all the same. */
const commonHeaders = ["algorithm", "cmath", "cstdint", "cstring", "memory", "mutex", "string", "thread", "vector"];

/** @returns the flags with which a file finds them precompiled, where the compiler can do that */
async function precompile(compiler, headers, folder) {
  const path = join(folder, "common.h");
  await writeFile(path, [...commonHeaders, "node_api.h"].map((name) => `#include <${name}>\n`).join(""));
  const output = ["-x", "c++-header", path, "-o", `${path}.gch`];
  try {
    await run(compiler.command, [...compiler.leading, ...compileFlags(headers), ...output]);
    return ["-include", path];
  } catch {
    return [];
  }
}

function linkFlags() {
  const shared = ["-shared", "-pthread"];
  if (process.platform === "darwin") return [...shared, "-undefined", "dynamic_lookup"];
  // Addresses of functions are resolved when the addon is loaded, and cannot be written after that; no stack is code.
  // It is never unloaded, since its threads stay (helpers.h): a thread of Node's that ends would unload it otherwise.
  return process.platform === "linux" ? [...shared, "-Wl,-z,relro,-z,now,-z,noexecstack,-z,nodelete"] : shared;
}

/** What the binary depends on: every source, the compiler, the flags, the platform. */
async function inputHash(sources, compiler, flags) {
  const hash = createHash("sha256");
  const identity = [compiler.command, compiler.leading, compiler.version, flags, process.platform, process.arch];
  hash.update(JSON.stringify(identity));
  for (const name of sources) {
    const content = await readFile(join(sourceFolder, name));
    hash.update(`\0${name}\0${content.length}\0`).update(content);
  }
  return hash.digest("hex");
}

async function isCurrent(hash) {
  try {
    const [stored, binary] = await Promise.all([readFile(hashFile, "utf8"), readFile(output)]);
    return stored.trim() === hash && binary.length > 0;
  } catch {
    return false;
  }
}

/** Compiles all files, as many at a time as there are cores, and links them; the result appears in one step. */
async function build(sources, compiler, headers, hash) {
  await mkdir(buildFolder, { recursive: true });
  const folder = await mkdtemp(join(buildFolder, "objects-"));
  try {
    const queue = sources.filter((name) => name.endsWith(".cpp"));
    const objectOf = (name) => join(folder, `${name.replaceAll(sep, "-")}.o`);
    const objects = queue.map(objectOf);
    const common = await precompile(compiler, headers, folder);
    const compileNext = async () => {
      for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
        const files = ["-c", join(sourceFolder, name), "-o", objectOf(name)];
        await run(compiler.command, [...compiler.leading, ...compileFlags(headers), ...common, ...files]);
      }
    };
    await Promise.all(Array.from({ length: availableParallelism() }, compileNext));
    const linked = join(folder, "tandem.node");
    await run(compiler.command, [...compiler.leading, ...objects, ...linkFlags(), "-o", linked]);
    await rm(hashFile, { force: true });
    await rename(linked, output);
    await writeFile(hashFile, `${hash}\n`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function main() {
  const compiler = await findCompiler();
  if (compiler === undefined) {
    process.stderr.write(`${portableNotice}\n`);
    return;
  }
  try {
    const headers = headerFolder();
    const sources = (await readdir(sourceFolder, { recursive: true, encoding: "utf8" }))
      .filter((name) => /\.(cpp|h)$/.test(name))
      .sort();
    const hash = await inputHash(sources, compiler, [...compileFlags(headers), ...linkFlags()]);
    if (await isCurrent(hash)) return;
    // A stale binary would be worse than none: its functions may not be the ones that the TypeScript calls.
    await Promise.all([rm(hashFile, { force: true }), rm(output, { force: true })]);
    await build(sources, compiler, headers, hash);
  } catch (error) {
    const details = String(error.stderr || error.message)
      .split("\n")
      .slice(0, 8)
      .join("\n");
    process.stderr.write(`${portableNotice}\nthe compiler said:\n${details}\n`);
  }
}

await main();
