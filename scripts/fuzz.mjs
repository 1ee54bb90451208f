/**
 * Reads mutants of every kind of file, message and argument that comes from outside (test/support/fuzz/), each format
 * in a process of its own. A mutant must be read, or refused with an error of ours: never a raw exception, a crash,
 * five seconds without an answer, or more memory than an honest file takes.
 *
 *   npm run fuzz -- --seed 7 --mutants 20000 [--format parquet] [--from 0]
 *
 * Prints a table, and every wrong outcome with what replays it; exits with 1 if there was one.
 */
import { fork } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { rolldown } from "rolldown";
import { buildThreads } from "./build-threads.mjs";
import { preactJsx, rawStyles } from "./web-views.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const silenceMsMax = 5000;
const peakBytesMax = 2 * 2 ** 30;
/** Mutants after which a child process is replaced by a fresh one. */
const mutantsPerChild = 2000;

/** @returns {Promise<string>} the program that reads mutants, bundled: Node 20 runs no TypeScript */
export async function bundleChild() {
  await buildThreads();
  const folder = join(root, "build", "fuzz");
  const input = join(root, "test", "support", "fuzz", "fuzz-child.ts");
  const external = ["@resvg/resvg-wasm"];
  const reports = { transform: preactJsx, plugins: [rawStyles] };
  const build = await rolldown({ cwd: root, input, platform: "node", external, ...reports });
  await build.write({ dir: folder, format: "esm", entryFileNames: "[name].mjs", cleanDir: true });
  await build.close();
  return join(folder, "fuzz-child.mjs");
}

/** Starts a child and follows it to its end. */
export function runChild(program, args, { env = {}, silenceMs = silenceMsMax } = {}) {
  return new Promise((resolve) => {
    const child = fork(program, args, { execArgv: [], env: { ...process.env, ...env } });
    const seen = { current: null, loose: [], report: null, formats: null, peakBytes: 0, isHung: false };
    // Counted in ticks: a machine that was asleep has none. What comes before the first mutant is preparation.
    let silentMs = 0;
    const timer = setInterval(() => {
      if (seen.current === null || seen.report !== null) return;
      silentMs += 100;
      if (silentMs <= silenceMs) return;
      seen.isHung = true;
      child.kill("SIGKILL");
    }, 100);
    child.on("message", (message) => {
      silentMs = 0;
      if ("begin" in message) seen.current = message.begin;
      if ("loose" in message) seen.loose.push({ mutant: message.loose, what: `not caught: ${message.what}` });
      if ("formats" in message) seen.formats = message.formats;
      if ("report" in message) Object.assign(seen, { report: message.report, peakBytes: message.peakBytes });
    });
    child.on("exit", (code, signal) => {
      clearInterval(timer);
      resolve({ ...seen, end: signal ?? code });
    });
  });
}

/** All mutants of one format: a child that hung or crashed is followed by one that begins behind that mutant. */
export async function fuzzFormat(program, format, { seed, from, count, env }) {
  const total = { format, mutants: count, read: 0, refused: 0, slowestMs: 0, peakBytes: 0, wrong: [] };
  for (let next = from; next < from + count;) {
    const part = Math.min(mutantsPerChild, from + count - next);
    const seen = await runChild(program, [format, seed, next, part].map(String), { env });
    total.wrong.push(...seen.loose);
    total.peakBytes = Math.max(total.peakBytes, seen.peakBytes);
    if (seen.report !== null) {
      total.read += seen.report.read;
      total.refused += seen.report.refused;
      total.slowestMs = Math.max(total.slowestMs, seen.report.slowestMs);
      total.wrong.push(...seen.report.wrong);
      next += part;
      continue;
    }
    if (seen.current === null)
      throw new Error(`${format}: the corpus could not be made: ${seen.loose[0]?.what ?? seen.end}`);
    const what = seen.isHung ? `no answer within ${silenceMsMax / 1000} s` : `the process ended with ${seen.end}`;
    total.wrong.push({ mutant: seen.current, what });
    next = seen.current + 1;
  }
  if (total.peakBytes > peakBytesMax) {
    const what = `took ${Math.round(total.peakBytes / 2 ** 20)} MB of memory`;
    total.wrong.push({ mutant: from, what });
  }
  return total;
}

export function printHead() {
  console.log("format              mutants     read  refused  slowest ms  peak MB  wrong");
}

export function printLine({ format, mutants, read, refused, slowestMs, peakBytes, wrong }) {
  const numbers = [mutants, read, refused, Math.round(slowestMs), Math.round(peakBytes / 2 ** 20), wrong.length];
  const widths = [7, 8, 8, 11, 8, 6];
  console.log(format.padEnd(20) + numbers.map((number, i) => String(number).padStart(widths[i])).join(" "));
}

export function printWrong(totals, seed) {
  for (const { format, wrong } of totals) {
    for (const { mutant, what } of wrong.slice(0, 10)) {
      console.error(`${format}, mutant ${mutant}: ${what}`);
      console.error(`  replay: npm run fuzz -- --seed ${seed} --format ${format} --from ${mutant} --mutants 1`);
    }
    if (wrong.length > 10) console.error(`${format}: ${wrong.length - 10} more`);
  }
}

async function main() {
  const { values } = parseArgs({
    options: {
      seed: { type: "string", default: "7" },
      mutants: { type: "string", default: "20000" },
      format: { type: "string", multiple: true },
      from: { type: "string", default: "0" },
    },
  });
  const program = await bundleChild();
  const { formats: known } = await runChild(program, []);
  const chosen = values.format ?? known;
  const unknown = chosen.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Error(`there is no format '${unknown}'; there are: ${known.join(", ")}`);
  const [seed, from] = [Number(values.seed), Number(values.from)];
  const count = Math.ceil(Number(values.mutants) / chosen.length);
  const totals = [];
  printHead();
  for (const format of chosen) {
    const total = await fuzzFormat(program, format, { seed, from, count });
    printLine(total);
    totals.push(total);
  }
  printWrong(totals, seed);
  process.exitCode = totals.some(({ wrong }) => wrong.length > 0) ? 1 : 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
