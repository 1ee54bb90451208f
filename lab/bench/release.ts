/**
 * CPU of a tree with Paillier against release 0.6, which is built from the history of this clone. Both run the same job
 * with their own command, in turns. Starting, reading and the keys take the same time in two jobs of different length,
 * so CPU per tree is a difference; it includes that of building tables for encryption.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { packagePath } from "../../src/base/package-root.ts";
import type { Figure } from "./arithmetic.ts";
import { type Columns, generatedTable, span, type TrainingBench } from "./training.ts";

const run = promisify(execFile);

/** The commit of 0.6.0. */
const release = "b59afdaab0a7dd060dee1d646a3d8c430aa29388";

interface Lengths {
  readonly few: number;
  readonly many: number;
}

export async function benchRelease(
  bench: TrainingBench & { readonly onLeftOut: (what: string) => void },
  onFigure: (figure: Figure) => void,
): Promise<void> {
  bench.onProgress("release: building 0.6");
  const old = await builtRelease();
  if (old === null)
    return bench.onLeftOut("paillier.cpuPerTree: 0.6 cannot be built (it needs this clone's history, and npm)");
  const folder = await mkdtemp(join(tmpdir(), "tandem-release-"));
  try {
    const table = generatedTable(bench.quick ? 3000 : 30_000, [13, 10], bench.seed);
    const path = join(folder, "table.csv");
    await writeFile(path, csvOf(table));
    const lengths = bench.quick ? { few: 1, many: 2 } : { few: 1, many: 11 };
    const now: number[] = [];
    const before: number[] = [];
    for (let repeat = 1; repeat <= (bench.quick ? 1 : 3); repeat++) {
      bench.onProgress(`release: against 0.6, ${repeat}`);
      now.push(await cpuPerTree(packagePath(), path, table, lengths));
      before.push(await cpuPerTree(old, path, table, lengths));
    }
    const parts = { now: span(now), "0.6": span(before) };
    onFigure({ name: "paillier.cpuPerTree", value: parts.now.min / parts["0.6"].min, bar: { atMost: 0.7 }, parts });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The folder of 0.6, built on first use; null where that fails. */
async function builtRelease(): Promise<string | null> {
  const folder = packagePath("build", "release-0.6");
  if (existsSync(folder)) return folder;
  await mkdir(packagePath("build"), { recursive: true });
  const partial = await mkdtemp(`${folder}-`);
  try {
    await run("sh", ["-c", 'git archive "$0" | tar -x -C "$1"', release, partial], { cwd: packagePath() });
    await run("npm", ["ci", "--no-audit", "--no-fund"], { cwd: partial, maxBuffer: 1 << 24 });
    await rename(partial, folder);
    return folder;
  } catch {
    await rm(partial, { recursive: true, force: true });
    return null;
  }
}

async function cpuPerTree(root: string, path: string, table: Columns, { few, many }: Lengths): Promise<number> {
  const short = await cpuOfJob(root, path, table, few);
  return ((await cpuOfJob(root, path, table, many)) - short) / (many - few);
}

/** CPU seconds of a job's processes, all of which the command waits for. */
async function cpuOfJob(root: string, path: string, { label, active, passive }: Columns, trees: number) {
  const [id] = active.names;
  const features = active.names.filter((name) => name !== id && name !== label);
  const columns = ["--active", features.join(), "--passive", passive.names.slice(1).join()];
  const data = ["--data", path, "--id", id, "--label", label, "--test-fraction", "0.001", ...columns];
  const training = ["--num-round", String(trees), "--max-depth", "3", "--max-bin", "32", "--eval-every", "0"];
  const command = [process.execPath, join(root, "bin", "tandem.js"), "simulate", ...data, ...training];
  const script = '"$@" > /dev/null || exit 1; times';
  const { stdout } = await run("sh", ["-c", script, "sh", ...command], { maxBuffer: 1 << 24 });
  return childSeconds(stdout);
}

/** The second line of the shell's `times`: user and system time of processes that ended, as in 1m2.34s 0m5.6s. */
export function childSeconds(times: string): number {
  const texts = (times.split("\n")[1] ?? "").matchAll(/(\d+)m([\d.]+)s/g);
  const seconds = Array.from(texts, ([, minutes, rest]) => 60 * Number(minutes) + Number(rest));
  return seconds.length === 2 ? seconds[0] + seconds[1] : Number.NaN;
}

function csvOf({ active, passive }: Columns): string {
  const columns = [...active.columns, ...passive.columns.slice(1)];
  const names = [...active.names, ...passive.names.slice(1)];
  const rows = active.columns[0].map((_, row) => columns.map((column) => column[row]).join());
  return `${[names.join(), ...rows].join("\n")}\n`;
}
