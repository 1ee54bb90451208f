/**
 * What hidden sums cost: seconds and bytes of a tree with and without, interleaved, for both schemes and two depths.
 * The processes are real, over TLS on loopback.
 */
import { type FederationResult, runFederation } from "../../src/simulate/federation.ts";
import type { Figure } from "./arithmetic.ts";
import { benchJob, type Columns, span, type TrainingBench } from "./training.ts";

const keyBits = 2048;
const resolutionBits = 8;

interface Case {
  readonly name: string;
  readonly scheme: "lattice" | "paillier";
  readonly depth: number;
  /** Seconds of a tree. */
  readonly atMost?: number;
}

const cases: readonly Case[] = [
  { name: "hiddenSums.perTree", scheme: "lattice", depth: 3, atMost: 0.35 },
  { name: "hiddenSums.perTree.lattice.5", scheme: "lattice", depth: 5 },
  { name: "hiddenSums.perTree.paillier.3", scheme: "paillier", depth: 3 },
  { name: "hiddenSums.perTree.paillier.5", scheme: "paillier", depth: 5 },
];

export async function benchHiddenSums(
  table: Columns,
  bench: TrainingBench,
  onFigure: (figure: Figure) => void,
): Promise<void> {
  const trees = bench.quick ? 2 : 5;
  for (const { name, scheme, depth, atMost } of cases) {
    bench.onProgress(`hidden sums: ${scheme}, depth ${depth}`);
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
        results.push(await runFederation(benchJob(table, keyBits, trees, given)));
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
