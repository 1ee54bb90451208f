/**
 * The process that reads mutants of one format: scripts/fuzz.mjs starts it, hears the number of each mutant before it
 * is read, and ends the process where one takes too long. Arguments: format, seed, first mutant, number of them.
 */
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formats } from "./formats.ts";
import { fuzz } from "./fuzz-run.ts";

/** Linux counts the parent's peak into a child's usage, but not into this. */
function peakBytes(): number {
  try {
    const peak = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"));
    if (peak !== null) return 1024 * Number(peak[1]);
  } catch {
    // Not on Linux.
  }
  return 1024 * process.resourceUsage().maxRSS;
}

const [name, seed, from, count] = process.argv.slice(2);
const format = formats.find((each) => each.name === name);
if (format === undefined) {
  process.send?.({ formats: formats.map((each) => each.name) });
} else {
  let current = Number(from);
  const loose = (error: unknown): void => {
    process.send?.({ loose: current, what: error instanceof Error ? error.stack : String(error) });
  };
  process.on("uncaughtException", loose);
  process.on("unhandledRejection", loose);
  const folder = await mkdtemp(join(tmpdir(), "tandem-fuzz-"));
  try {
    const target = await format.prepare(folder);
    const report = await fuzz(target, {
      seed: Number(seed),
      format: format.name,
      from: Number(from),
      count: Number(count),
      onBegin(mutant) {
        current = mutant;
        process.send?.({ begin: mutant });
      },
    });
    await target.close?.();
    process.send?.({ report, peakBytes: peakBytes() });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
process.disconnect?.();
