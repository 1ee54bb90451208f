/**
 * The cost of noise in answers: the CPU time of all parties per tree with noise over that without, interleaved. The
 * trees are not the same ones, but as many and as deep.
 */
import type { Figure } from "./arithmetic.ts";
import { benchJob, type Columns, span, type TrainingBench } from "./training.ts";
import { type FederationResult, runFederation } from "../../src/simulate/federation.ts";

const keyBits = 2048;
const repeats = 7;

export async function benchNoise(
  table: Columns,
  bench: TrainingBench,
  onFigure: (figure: Figure) => void,
): Promise<void> {
  bench.onProgress(`noise in answers, ${keyBits}-bit key`);
  const trees = bench.quick ? 1 : 4;
  const privacy = { answer_noise: 10 };
  const [exact, noisy]: [number[], number[]] = [[], []];
  for (let repeat = 0; repeat < (bench.quick ? 1 : repeats); repeat++) {
    exact.push(cpuPerTree(await runFederation(benchJob(table, keyBits, trees))));
    noisy.push(cpuPerTree(await runFederation(benchJob(table, keyBits, trees, { privacy }))));
  }
  // The jobs of a pair run next to each other, so that other load on the machine affects both.
  const ratios = span(noisy.map((seconds, i) => seconds / exact[i]));
  const parts = { exact: span(exact), noisy: span(noisy), ratios };
  onFigure({ name: "noise.perTree", value: ratios.median, bar: { atMost: 1.05 }, parts });
}

function cpuPerTree({ active, passives }: FederationResult): number {
  return passives.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, active.cpuSeconds) / active.trees;
}
