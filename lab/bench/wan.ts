/**
 * Time per tree over lines between companies: both parties are real processes over mutual TLS, and what is between them
 * is a relay with the bandwidth and the delay of a line. Figures compare a tree with what the line itself takes: its
 * bytes at the line's rate, and a round trip for each call that must wait for the answer before it.
 */
import { type FederationResult, runFederation } from "../../src/simulate/federation.ts";
import type { Figure } from "./arithmetic.ts";
import { type Line, ShapedLine } from "./shaped-line.ts";
import { benchJob, type Columns, generatedTable, secondsPerTree, span, type TrainingBench } from "./training.ts";

const bits = 2048;
const schemes = ["paillier", "curve", "lattice"] as const;
type SchemeName = (typeof schemes)[number];

const lines: readonly (Line & { readonly name: string })[] = [
  { name: "100", megabitsPerSecond: 100, roundTripMs: 20 },
  { name: "100.50ms", megabitsPerSecond: 100, roundTripMs: 50 },
  { name: "10", megabitsPerSecond: 10, roundTripMs: 50 },
];
const bars: Readonly<Record<string, number>> = { "100": 1.8, "10": 1.3 };
const depths = [3, 5] as const;
/** Trees of the two jobs whose difference is measured. */
const jobTrees: Readonly<Record<SchemeName, readonly [number, number]>> = {
  paillier: [1, 2],
  curve: [1, 4],
  lattice: [1, 4],
};
/** A level asks for sums and for the sides of the winners: each question waits for the answer before it. */
const waitingCallsPerLevel = 2;

/** The two figures of the curve scheme. */
export async function benchWan(bench: TrainingBench, onFigure: (figure: Figure) => void): Promise<void> {
  const table = generatedTable(bench.quick ? 3000 : 30_000, [13, 10], bench.seed);
  const repeats = bench.quick ? 1 : 3;
  for (const line of lines) {
    const atMost = bars[line.name];
    if (atMost === undefined) continue;
    bench.onProgress(`wan: ${lineText(line)}`);
    const trees: WanTree[] = [];
    for (let repeat = 0; repeat < repeats; repeat++) trees.push(await perTree("curve", table, 5, line, [2, 12]));
    const measured = span(trees.map(({ seconds }) => seconds));
    const ideal = span(trees.map(({ lineSeconds }) => lineSeconds));
    const parts = { seconds: measured, line: ideal };
    // The least of some differences would be too little: what disturbs the shorter job makes them less.
    onFigure({ name: `wan.curve.${line.name}`, value: measured.median / ideal.median, bar: { atMost }, parts });
  }
}

/** Null: both parties on this machine. */
export const linesOfTable: readonly ((typeof lines)[number] | null)[] = [null, ...lines];

/** Seconds per tree of every scheme over every line. */
export async function benchWanTable(
  bench: TrainingBench,
  onFigure: (figure: Figure) => void,
  among = linesOfTable,
): Promise<void> {
  for (const rows of bench.quick ? [3000] : [30_000, 200_000]) {
    const table = generatedTable(rows, [13, 10], bench.seed);
    for (const depth of depths) {
      for (const line of among) {
        for (const scheme of schemes) {
          bench.onProgress(`wan: ${scheme}, ${rows} rows, depth ${depth}, ${lineText(line)}`);
          const { seconds, lineSeconds } = await perTree(scheme, table, depth, line, jobTrees[scheme]);
          const name = `wan.${scheme}.${rows}.depth${depth}.${line?.name ?? "lan"}`;
          onFigure({ name, value: seconds, parts: { line: { min: lineSeconds, median: lineSeconds } } });
        }
      }
    }
  }
}

interface WanTree {
  readonly seconds: number;
  /** What the line alone takes. */
  readonly lineSeconds: number;
}

/** The difference of two lengths, since keys, bases and hints are sent once per job. */
async function perTree(
  scheme: SchemeName,
  table: Columns,
  depth: number,
  line: Line | null,
  [few, many]: readonly [number, number],
): Promise<WanTree> {
  const short = await train(scheme, table, depth, few, line);
  const long = await train(scheme, table, depth, many, line);
  const difference = (of: (result: FederationResult) => number): number => (of(long) - of(short)) / (many - few);
  const seconds = difference((result) => secondsPerTree(result) * result.active.trees);
  const up = difference(({ active }) => active.bytes.activeToPassive);
  const down = difference(({ active }) => active.bytes.passiveToActive);
  if (line === null) return { seconds, lineSeconds: 0 };
  const waiting = (waitingCallsPerLevel * depth * line.roundTripMs) / 1000;
  return { seconds, lineSeconds: (8 * (up + down)) / (line.megabitsPerSecond * 1e6) + waiting };
}

async function train(
  scheme: SchemeName,
  table: Columns,
  depth: number,
  trees: number,
  line: Line | null,
): Promise<FederationResult> {
  const training = { num_round: trees, max_depth: depth, max_bin: 32, eval_every: 0 };
  const keyBits = scheme === "paillier" ? bits : undefined;
  const job = benchJob(table, bits, trees, { scheme, keyBits, training });
  return overLine(line, (lineTo) => runFederation({ ...job, lineTo }));
}

/** Runs a job whose active party reaches the others over this line; null: directly. */
export async function overLine<T>(
  line: Line | null,
  run: (lineTo: ((port: number) => Promise<number>) | undefined) => Promise<T>,
): Promise<T> {
  if (line === null) return run(undefined);
  const shaped = new ShapedLine(line);
  try {
    return await run((port) => shaped.to(port));
  } finally {
    shaped.close();
  }
}

function lineText(line: Line | null): string {
  return line === null ? "no line" : `${line.megabitsPerSecond} Mb/s, ${line.roundTripMs} ms`;
}
