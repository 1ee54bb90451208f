/**
 * Figures of the curve scheme against Paillier with 2048 bits, with every party a real process over TLS on loopback:
 * wall time and CPU of both parties per tree, and the bytes of an instance. Starting, reading and the keys take the
 * same time in two jobs of different length, so CPU per tree is a difference.
 */
import { type FederationResult, runFederation } from "../../src/simulate/federation.ts";
import type { Figure } from "./arithmetic.ts";
import { benchJob, type Columns, defaultTable, span, type TrainingBench } from "./training.ts";

const bits = 2048;

interface Lengths {
  readonly few: number;
  readonly many: number;
}

/** Seconds of one tree. */
interface TreeCost {
  readonly wall: number;
  readonly cpu: number;
}

export async function benchCurve(bench: TrainingBench, onFigure: (figure: Figure) => void): Promise<void> {
  const table = await defaultTable(bench);
  const repeats = bench.quick ? 1 : 3;
  const paillier: TreeCost[] = [];
  const curve: TreeCost[] = [];
  for (let repeat = 1; repeat <= repeats; repeat++) {
    bench.onProgress(`curve: against Paillier, ${repeat} of ${repeats}`);
    paillier.push(await treeCost(table, "paillier", { few: 1, many: 4 }));
    curve.push(await treeCost(table, "curve", { few: 3, many: 23 }));
  }
  for (const [name, clock, atLeast] of [
    ["curve.overPaillier", "wall", 5],
    ["curve.cpuOverPaillier", "cpu", 8],
  ] as const) {
    const parts = {
      paillier: span(paillier.map((cost) => cost[clock])),
      curve: span(curve.map((cost) => cost[clock])),
    };
    onFigure({ name, value: parts.paillier.min / parts.curve.min, bar: { atLeast }, parts });
  }
  bench.onProgress("curve: bytes");
  onFigure(await bytesPerInstance(table));
}

async function treeCost(table: Columns, scheme: "paillier" | "curve", { few, many }: Lengths): Promise<TreeCost> {
  const [short, long] = [await train(table, scheme, few), await train(table, scheme, many)];
  const perTree = (of: (result: FederationResult) => number): number => (of(long) - of(short)) / (many - few);
  return { wall: perTree(({ active }) => active.phasesMs.training / 1000), cpu: perTree(cpuSeconds) };
}

/** Upload per instance and tree, at either depth; the bases are sent once per attempt. */
async function bytesPerInstance(table: Columns): Promise<Figure> {
  const rows = table.active.columns[0].length;
  const [few, many] = [1, 3];
  const parts: Record<string, { min: number; median: number }> = {};
  for (const depth of [3, 5]) {
    const short = await train(table, "curve", few, depth);
    const long = await train(table, "curve", many, depth);
    const sent = long.active.bytes.activeToPassive - short.active.bytes.activeToPassive;
    const bytes = sent / (many - few) / rows;
    parts[`depth ${depth}`] = { min: bytes, median: bytes };
  }
  return { name: "curve.bytesPerInstance", value: parts["depth 3"].min, bar: { atMost: 66 }, parts };
}

function train(table: Columns, scheme: "paillier" | "curve", trees: number, depth = 3): Promise<FederationResult> {
  const training = { num_round: trees, max_depth: depth, max_bin: 32, eval_every: 0 };
  const keyBits = scheme === "paillier" ? bits : undefined;
  return runFederation(benchJob(table, bits, trees, { scheme, keyBits, training }));
}

function cpuSeconds({ active, passives }: FederationResult): number {
  return passives.reduce((sum, passive) => sum + passive.cpuSeconds, active.cpuSeconds);
}
