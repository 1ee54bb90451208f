/**
 * What hidden sums cost: seconds and bytes of a tree with and without, interleaved, for both schemes and two depths.
 * The processes are real, over TLS on loopback, and over a line between companies.
 */
import { type FederationResult, runFederation } from "../../src/simulate/federation.ts";
import type { Figure } from "./arithmetic.ts";
import { type Line } from "./shaped-line.ts";
import { benchJob, type Columns, span, type TrainingBench } from "./training.ts";
import { overLine } from "./wan.ts";

const keyBits = 2048;
const resolutionBits = 8;

interface Case {
  readonly name: string;
  readonly scheme: "lattice" | "paillier";
  readonly depth: number;
  /** Left out: loopback. */
  readonly line?: Line;
  /** Seconds of a tree. */
  readonly atMost?: number;
}

const companies: Line = { megabitsPerSecond: 100, roundTripMs: 20 };

const cases: readonly Case[] = [
  { name: "hiddenSums.perTree", scheme: "lattice", depth: 3, atMost: 0.35 },
  { name: "hiddenSums.perTree.lattice.5", scheme: "lattice", depth: 5 },
  { name: "hiddenSums.perTree.paillier.3", scheme: "paillier", depth: 3 },
  { name: "hiddenSums.perTree.paillier.5", scheme: "paillier", depth: 5 },
  { name: "hiddenSums.perTree.lattice.3.100", scheme: "lattice", depth: 3, line: companies, atMost: 5 },
  { name: "hiddenSums.perTree.lattice.5.100", scheme: "lattice", depth: 5, line: companies, atMost: 12 },
  { name: "hiddenSums.perTree.paillier.3.100", scheme: "paillier", depth: 3, line: companies, atMost: 5 },
  { name: "hiddenSums.perTree.paillier.5.100", scheme: "paillier", depth: 5, line: companies, atMost: 12 },
];

export async function benchHiddenSums(
  table: Columns,
  bench: TrainingBench,
  onFigure: (figure: Figure) => void,
): Promise<void> {
  const trees = bench.quick ? 2 : 5;
  for (const { name, scheme, depth, atMost, line = null } of cases) {
    bench.onProgress(`hidden sums: ${scheme}, depth ${depth}, ${line === null ? "loopback" : "100 Mb/s, 20 ms"}`);
    const [plain, hidden]: [FederationResult[], FederationResult[]] = [[], []];
    for (let repeat = 0; repeat < (bench.quick ? 1 : 3); repeat++) {
      for (const [results, hidden_sums] of [
        [plain, false],
        [hidden, true],
      ] as const) {
        const given = {
          scheme,
          ...(scheme === "lattice" ? { keyBits: undefined } : {}),
          training: { num_round: trees, max_depth: depth, max_bin: 32, eval_every: 0 },
          codec: { resolution_bits: resolutionBits },
          privacy: { hidden_sums },
        };
        const job = benchJob(table, keyBits, trees, given);
        results.push(await overLine(line, (lineTo) => runFederation({ ...job, lineTo })));
      }
    }
    const seconds = span(hidden.map(secondsPerTree));
    onFigure({
      name,
      value: seconds.median,
      ...(atMost === undefined ? {} : { bar: { atMost } }),
      parts: {
        seconds,
        without: span(plain.map(secondsPerTree)),
        megabytes: span(hidden.map(megabytesPerTree)),
        megabytesWithout: span(plain.map(megabytesPerTree)),
        cpuSeconds: span(hidden.map(cpuSecondsPerTree)),
        cpuSecondsWithout: span(plain.map(cpuSecondsPerTree)),
      },
    });
  }
}

function secondsPerTree({ active: { phasesMs, trees } }: FederationResult): number {
  return (phasesMs.training - phasesMs.setUp) / 1000 / trees;
}

function megabytesPerTree({ active: { bytes, trees } }: FederationResult): number {
  return (bytes.activeToPassive + bytes.passiveToActive) / 1e6 / trees;
}

/** Of all parties. */
function cpuSecondsPerTree({ active, passives }: FederationResult): number {
  return passives.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, active.cpuSeconds) / active.trees;
}
