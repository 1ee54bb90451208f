/**
 * What the resolution of gradients costs in accuracy where nothing bounds them: models of generated regression data
 * are trained in one place, with gradients rounded as each scheme rounds them. A figure is how much further predictions
 * are from the true expectation than those of a model without coarse rounding (24 bits), relative, over several tables.
 */
import { SeededRandom } from "../../src/base/random.ts";
import { quantiserFor } from "../../src/codec/gradient-layout.ts";
import { binFeature } from "../../src/gbdt/split/binning.ts";
import { trainCentralised } from "../../src/gbdt/boost/train.ts";
import { TrainingRows } from "../../src/gbdt/rows/training-rows.ts";
import { predictMargins } from "../../src/gbdt/tree/predict.ts";
import { resolveJob } from "../../src/party/resolve-job.ts";
import type { Figure } from "./arithmetic.ts";
import type { TrainingBench } from "./training.ts";

interface Sample {
  readonly label: number;
  /** The margin of the true expectation. */
  readonly truth: number;
}

interface Loss {
  readonly name: string;
  readonly objective: "reg:squarederror" | "reg:gamma" | "count:poisson";
  readonly draw: (signal: number, random: SeededRandom) => Sample;
}

const columns = 6;
const finest = 24;
const resolutions = [8, 12, 16, 20] as const;

/** Above 1; the mean of index a is a / (a - 1), its variance infinite up to a = 2. */
function pareto(random: SeededRandom, index: number): number {
  return (1 - random.uniform()) ** (-1 / index);
}

function poisson(random: SeededRandom, mean: number): number {
  let count = 0;
  for (let left = mean + Math.log(1 - random.uniform()); left > 0; left += Math.log(1 - random.uniform())) count++;
  return count;
}

const losses: readonly Loss[] = [
  {
    name: "squarederror.normal",
    objective: "reg:squarederror",
    draw: (signal, random) => ({ label: signal + random.normal(), truth: signal }),
  },
  {
    // Magnitudes of noise beyond the 10,000th part of the largest hold nearly all instances.
    name: "squarederror.pareto",
    objective: "reg:squarederror",
    draw: (signal, random) => {
      const size = pareto(random, 1.5) - 1;
      return { label: signal + (random.uniform() < 0.5 ? -size : size), truth: signal };
    },
  },
  {
    // A few amounts are thousands of times the usual one; most instances differ by less than a step of 12 bits.
    name: "squarederror.outliers",
    objective: "reg:squarederror",
    draw: (signal, random) => {
      const isFar = random.uniform() < 0.0005;
      return { label: signal + random.normal() + (isFar ? 5000 * random.normal() : 0), truth: signal };
    },
  },
  {
    name: "gamma.pareto",
    objective: "reg:gamma",
    draw: (signal, random) => ({ label: (Math.exp(signal) * pareto(random, 1.5)) / 3, truth: signal }),
  },
  {
    name: "poisson.pareto",
    objective: "count:poisson",
    draw: (signal, random) => {
      const rate = (Math.exp(signal) * pareto(random, 1.5)) / 3;
      return { label: poisson(random, Math.min(rate, 1e5)), truth: signal };
    },
  },
];

export async function benchResolution(bench: TrainingBench, onFigure: (figure: Figure) => void): Promise<void> {
  const rows = bench.quick ? 1000 : 20_000;
  const tables = bench.quick ? 1 : 4;
  for (const loss of losses) {
    bench.onProgress(`resolution: ${loss.name}`);
    const changes = new Map<number, number[]>(resolutions.map((bits) => [bits, []]));
    for (let table = 0; table < tables; table++) {
      const data = drawTable(loss, 2 * rows, `bench-resolution-${bench.seed}-${table}-${loss.name}`);
      const best = await errorOf(loss, data, finest);
      for (const [bits, found] of changes) found.push((await errorOf(loss, data, bits)) / best - 1);
    }
    for (const [bits, found] of changes) {
      const mean = found.reduce((sum, change) => sum + change, 0) / tables;
      const sorted = found.toSorted((a, b) => a - b);
      onFigure({
        name: `resolution.${loss.name}.${bits}`,
        value: mean,
        parts: { tables: { min: sorted[0], median: sorted[Math.floor(tables / 2)] } },
      });
    }
  }
}

interface Table {
  readonly features: readonly Float32Array[];
  readonly labels: Float64Array;
  readonly truths: Float64Array;
}

function drawTable({ draw }: Loss, rows: number, seed: string): Table {
  const random = new SeededRandom(seed);
  const features = Array.from({ length: columns }, () => Float32Array.from({ length: rows }, () => random.uniform()));
  const samples = Array.from({ length: rows }, (_, row) => {
    const [a, b, c, d] = features.map((column) => column[row]);
    return draw(Math.sin(4 * a) + 2 * b * c + d, random);
  });
  return {
    features,
    labels: Float64Array.from(samples, ({ label }) => label),
    truths: Float64Array.from(samples, ({ truth }) => truth),
  };
}

/** Of the rows that are not trained on: how far margins are from the truth, apart from a constant. */
async function errorOf({ objective }: Loss, { features, labels, truths }: Table, bits: number): Promise<number> {
  const half = labels.length / 2;
  const { training, codec } = resolveJob({
    training: { objective, num_round: 50, max_depth: 3, max_bin: 32, base_score: 1 },
    codec: { resolution_bits: bits },
  });
  const rows = new TrainingRows(labels.slice(0, half), {});
  const own = features.map((column, i) => binFeature(`f${i}`, column.slice(0, half), training.max_bin, rows.training));
  const model = await trainCentralised({
    parties: [own],
    rows,
    parameters: training,
    quantise: quantiserFor(codec, 2047),
  });
  const margins = predictMargins(model, [features.map((column) => column.slice(half))], half);
  let [sum, squares] = [0, 0];
  for (let row = 0; row < half; row++) {
    const difference = margins[row] - truths[half + row];
    sum += difference;
    squares += difference * difference;
  }
  return Math.sqrt(squares / half - (sum / half) ** 2);
}
