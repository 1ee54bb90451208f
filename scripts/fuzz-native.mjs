/**
 * The native addon under AddressSanitizer and UndefinedBehaviorSanitizer: builds it into build/sanitised/, runs the
 * tests of the kernels against it, and calls its functions with wrong arguments (test/support/fuzz/native.ts).
 *
 *   npm run fuzz:native -- --seed 7 --mutants 5000 [--arguments-only]
 *
 * Needs Linux and a g++ with both sanitisers; says so in one line where it cannot run, and exits with 0.
 */
import { execFile, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { bundleChild, fuzzFormat, printHead, printLine, printWrong } from "./fuzz.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = join(root, "build", "sanitised");
const addon = join(folder, "tandem.node");
const compiler = process.env.CXX?.trim() || "g++";
const run = promisify(execFile);
const sanitised = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-fno-omit-frame-pointer"];

/** The runtime that must be in a process before the addon is loaded; null: this compiler has none. */
function runtime() {
  if (process.platform !== "linux") return null;
  const found = spawnSync(compiler, ["-print-file-name=libasan.so"], { encoding: "utf8" });
  const path = found.status === 0 ? found.stdout.trim() : "";
  return path.startsWith("/") && existsSync(path) ? path : null;
}

async function build() {
  mkdirSync(folder, { recursive: true });
  const headers = join(dirname(createRequire(import.meta.url).resolve("node-api-headers/package.json")), "include");
  const shared = ["-O1", "-g", "-fPIC", "-std=c++17", "-pthread", "-fvisibility=hidden", "-ffp-contract=off"];
  const flags = [...shared, ...sanitised, `-I${headers}`];
  const sources = readdirSync(join(root, "native"), { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".cpp"),
  );
  const objects = sources.map((name) => join(folder, `${name.replaceAll(sep, "-")}.o`));
  const queue = sources.map((name, i) => [join(root, "native", name), objects[i]]);
  const compileNext = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift())
      await run(compiler, [...flags, "-c", next[0], "-o", next[1]]);
  };
  await Promise.all([compileNext(), compileNext()]);
  await run(compiler, [...objects, ...sanitised, "-shared", "-pthread", "-o", addon]);
}

/** Node itself was built without the sanitisers: what it leaks, and how it handles its own signals, is its affair. */
function environment(library) {
  return {
    LD_PRELOAD: library,
    ASAN_OPTIONS: "detect_leaks=0:allow_user_segv_handler=1:detect_stack_use_after_return=0",
    UBSAN_OPTIONS: "print_stacktrace=1:halt_on_error=1",
    TANDEM_FUZZ_ADDON: addon,
  };
}

function runTests(env) {
  const config = join(root, "scripts", "sanitised.vitest.config.mjs");
  const args = [join(root, "node_modules", "vitest", "vitest.mjs"), "run", "--config", config];
  return (
    spawnSync(process.execPath, args, { cwd: root, env: { ...process.env, ...env }, stdio: "inherit" }).status === 0
  );
}

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "7" },
    mutants: { type: "string", default: "5000" },
    "arguments-only": { type: "boolean", default: false },
  },
});
const library = runtime();
if (library === null) {
  console.log(`fuzz:native: ${compiler} has no AddressSanitizer here; nothing was run`);
} else {
  await build();
  const program = await bundleChild();
  const env = environment(library);
  const isTested = values["arguments-only"] || runTests(env);
  const [seed, count] = [Number(values.seed), Number(values.mutants)];
  const total = await fuzzFormat(program, "native", { seed, from: 0, count, env });
  printHead();
  printLine(total);
  printWrong([total], seed);
  if (!isTested || total.wrong.length > 0) process.exitCode = 1;
}
