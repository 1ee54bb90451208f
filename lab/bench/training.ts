/** Figures of whole training runs, with every party a real process: CPU per instance, batching, scale and memory. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { codecWith } from "../../src/base/parameters/parameters.ts";
import { SeededRandom } from "../../src/base/random.ts";
import { readCsvTable } from "../../src/data/csv-table.ts";
import type { Figure } from "./arithmetic.ts";
import { interleave } from "./measure.ts";
import { opensslPower, randomOdd } from "./baseline.ts";
import {
  type FederationJob,
  type FederationResult,
  runFederation,
  type TextTable,
} from "../../src/simulate/federation.ts";
import { type GivenJob, resolveJob } from "../../src/party/resolve-job.ts";
import { keyOf } from "../trials/trial.ts";

export interface TrainingBench {
  /** Folder with the public data, or null: then generated data of the same shape is used. */
  readonly data: string | null;
  readonly seed: number;
  readonly quick: boolean;
  readonly onProgress: (what: string) => void;
}

export interface Columns {
  readonly label: string;
  readonly active: TextTable;
  readonly passive: TextTable;
}

/** The machine's speed drifts by a fifth within a minute: several interleaved repeats, and the minimum of each side. */
const batchingRepeats = 3;

const defaultFiles = {
  active: "default/default_credit_hetero_guest.csv.gz",
  passive: "default/default_credit_hetero_host.csv.gz",
};

export async function benchTraining(bench: TrainingBench, onFigure: (figure: Figure) => void): Promise<void> {
  const table = await defaultTable(bench);
  const rows = table.active.columns[0].length;
  for (const bits of [1024, 2048]) {
    bench.onProgress(`training on ${rows} rows, ${bits}-bit key`);
    for (const figure of await perInstance(table, bits, bench.quick ? 2 : 5)) onFigure(figure);
  }
  for (const bits of [1024, 2048]) {
    bench.onProgress(`batched against unbatched, ${bits}-bit key`);
    onFigure(await batching(table, bits, bench.quick ? 1 : 5));
  }
  const sizes = bench.quick ? [5_000, 20_000] : [100_000, 400_000];
  bench.onProgress(`scale: ${sizes.join(" and ")} rows`);
  for (const figure of await scale(sizes, bench.seed)) onFigure(figure);
}

/** CPU of all parties per tree and instance, in textbook encryptions. */
async function perInstance(table: Columns, bits: number, trees: number): Promise<Figure[]> {
  const rows = table.active.columns[0].length;
  const modulus = randomOdd(bits);
  const baseline = async (): Promise<number> => {
    const power = opensslPower(modulus * modulus, modulus);
    const timings = await interleave(
      [{ name: "textbook", units: 8, run: () => Array.from({ length: 8 }, power).length }],
      5,
      "cpu",
    );
    return timings.get("textbook")?.min ?? Number.NaN;
  };
  const before = await baseline();
  const result = await runFederation(benchJob(table, bits, trees));
  const textbook = Math.min(before, await baseline());
  const cpuSeconds = result.passives.reduce((sum, passive) => sum + passive.cpuSeconds, result.active.cpuSeconds);
  const perTree = cpuSeconds / trees / rows;
  const blocks = [result.active, ...result.passives].map(({ eventLoopMaxBlockMs }) => eventLoopMaxBlockMs);
  return [
    {
      name: `tree.textbookPerInstance.${bits}`,
      value: perTree / textbook,
      bar: { atMost: bits === 1024 ? 0.045 : 0.035 },
      parts: {
        textbook: { min: textbook, median: textbook },
        cpuPerInstanceAndTree: { min: perTree, median: perTree },
      },
    },
    {
      name: bits === 2048 ? "eventLoop.maxBlockMs" : "eventLoop.maxBlockMs.1024",
      value: Math.max(...blocks),
      bar: { atMost: 20 },
      parts: {},
    },
  ];
}

async function batching(table: Columns, bits: number, trees: number): Promise<Figure> {
  const perTree = async (codec: "batched" | "unbatched"): Promise<number> => {
    const { job, ...others } = benchJob(table, bits, trees);
    return secondsPerTree(await runFederation({ ...others, job: { ...job, codec: codecWith({ codec }) } }));
  };
  const batched: number[] = [];
  const unbatched: number[] = [];
  for (let repeat = 0; repeat < batchingRepeats; repeat++) {
    batched.push(await perTree("batched"));
    unbatched.push(await perTree("unbatched"));
  }
  const parts = { batched: span(batched), unbatched: span(unbatched) };
  return {
    name: `batching.perTree.${bits}`,
    value: parts.batched.min / parts.unbatched.min,
    bar: { atMost: bits === 1024 ? 0.58 : 0.54 },
    parts,
  };
}

async function scale(sizes: readonly number[], seed: number): Promise<Figure[]> {
  const bits = 1024;
  const trees = 2;
  const perRow: number[] = [];
  let memory = Number.NaN;
  for (const rows of sizes) {
    const result = await runFederation(benchJob(generatedTable(rows, [5, 5], seed), bits, trees));
    perRow.push(secondsPerTree(result) / rows);
    const ciphertextBytes = (rows * 2 * bits) / 8;
    memory = result.passives[0].peakRssBytes / (ciphertextBytes + 250e6);
  }
  const parts = Object.fromEntries(
    sizes.map((rows, i) => [`secondsPerRow ${rows}`, { min: perRow[i], median: perRow[i] }]),
  );
  return [
    { name: "scale.perRow", value: perRow[1] / perRow[0], bar: { atMost: 1.1 }, parts },
    { name: "memory.passive", value: memory, bar: { atMost: 1.5 }, parts: {} },
  ];
}

export function secondsPerTree(result: FederationResult): number {
  return result.active.phasesMs.training / 1000 / result.active.trees;
}

export function span(values: readonly number[]): { min: number; median: number } {
  const sorted = values.toSorted((a, b) => a - b);
  return { min: sorted[0], median: sorted[Math.floor(sorted.length / 2)] };
}

export function benchJob(table: Columns, bits: number, trees: number, given: GivenJob = {}): FederationJob {
  const [id] = table.active.names;
  const features = (names: readonly string[]): string[] => names.filter((name) => name !== id && name !== table.label);
  return {
    active: {
      name: "active",
      features: features(table.active.names),
      train: table.active,
      test: null,
      label: table.label,
      positive: undefined,
    },
    passives: [{ name: "passive", features: features(table.passive.names), train: table.passive, test: null }],
    id,
    missing: [],
    job: resolveJob({ training: { num_round: trees, max_depth: 3, max_bin: 32 }, ...keyOf(bits), ...given }),
    predictions: undefined,
    onEvent: () => {},
  };
}

/** The Default data as FATE cuts it, 13 + 10 features, or generated data of that shape. */
export async function defaultTable(bench: TrainingBench): Promise<Columns> {
  const rows = bench.quick ? 3000 : 30_000;
  if (bench.data === null || !existsSync(join(bench.data, defaultFiles.active)))
    return generatedTable(rows, [13, 10], bench.seed);
  const [active, passive] = await Promise.all(
    [defaultFiles.active, defaultFiles.passive].map((file) => readCsvTable(join(bench.data ?? "", file))),
  );
  const head = (table: TextTable): TextTable => ({
    names: table.names,
    columns: table.columns.map((column) => column.slice(0, rows)),
  });
  return { label: "y", active: head(active), passive: head(passive) };
}

/** Standard normal columns and a label that depends on all of them. */
export function generatedTable(rows: number, features: readonly [number, number], seed: number): Columns {
  const random = new SeededRandom(`bench-table-${seed}-${rows}`);
  const ids = Array.from({ length: rows }, (_, i) => String(i + 1));
  const score = new Float64Array(rows);
  const columns = (count: number): string[][] =>
    Array.from({ length: count }, (_, f) =>
      Array.from({ length: rows }, (_cell, row) => {
        const value = random.normal();
        score[row] += value / (f + 1);
        return value.toFixed(4);
      }),
    );
  const names = (prefix: string, count: number): string[] => Array.from({ length: count }, (_, f) => `${prefix}${f}`);
  const active = columns(features[0]);
  const passive = columns(features[1]);
  const labels = Array.from(score, (value) => (random.uniform() < 1 / (1 + Math.exp(-value)) ? "1" : "0"));
  return {
    label: "y",
    active: { names: ["id", "y", ...names("a", features[0])], columns: [ids, labels, ...active] },
    passive: { names: ["id", ...names("p", features[1])], columns: [ids, ...passive] },
  };
}
