/**
 * Figures of the lattice scheme, with every party a real process over TLS on loopback: against XGBoost on the whole
 * table in one place, against Paillier, and against plain histograms.
 */
import { latticeSets } from "../../src/crypto/lattice/parameters/sets.ts";
import { SeededRandom } from "../../src/base/random.ts";
import { type FederationJob, type FederationResult, runFederation } from "../../src/simulate/federation.ts";
import type { Figure } from "./arithmetic.ts";
import { pythonWithXgboost, xgboostSeconds } from "./local-xgboost.ts";
import { plainHistogramSeconds } from "./plain-histograms.ts";
import { benchJob, type Columns, defaultTable, span, type TrainingBench } from "./training.ts";

const depth = 3;
const bins = 32;

/** One of the two jobs that are compared with XGBoost. */
interface Compared {
  readonly name: string;
  readonly table: Columns;
  readonly trees: number;
  readonly atMost: number;
  readonly repeats: number;
}

export async function benchLattice(bench: TrainingBench, onFigure: (figure: Figure) => void): Promise<void> {
  const small = await defaultTable(bench);
  const python = pythonWithXgboost();
  const compared: Compared[] = [
    { name: "", table: small, trees: 50, atMost: 15, repeats: bench.quick ? 1 : 5 },
    {
      name: ".large",
      table: wholeNumbers(bench.quick ? 20_000 : 1_000_000, [10, 10], bench.seed),
      trees: 10,
      atMost: 8,
      repeats: bench.quick ? 1 : 3,
    },
  ];
  for (const job of compared) {
    bench.onProgress(`lattice: ${job.trees} trees of ${job.table.active.columns[0].length} rows`);
    for (const figure of await againstLocal(job, python)) onFigure(figure);
  }
  bench.onProgress("lattice: Paillier for comparison");
  onFigure(await againstPaillier(small, bench.quick ? 1 : 3));
  bench.onProgress("lattice: CPU of all parties");
  onFigure(await againstHistograms(small));
  bench.onProgress("lattice: bytes");
  onFigure(await bytesPerInstance(bench.seed));
  onFigure({ name: "lattice.security", value: latticeSets.A.security, bar: { atLeast: 128 }, parts: {} });
}

async function againstLocal(
  { name, table, trees, atMost, repeats }: Compared,
  python: string | null,
): Promise<Figure[]> {
  const ours: number[] = [];
  const theirs: number[] = [];
  const setUps: number[] = [];
  for (let repeat = 0; repeat < repeats; repeat++) {
    const result = await runFederation(latticeJob(table, trees));
    ours.push(treeSeconds(result));
    setUps.push(result.active.phasesMs.setUp / 1000);
    if (python !== null) theirs.push(...(await xgboostSeconds(python, localJob(table, trees), 3)));
  }
  const trained = { min: Math.min(...ours), median: span(ours).median };
  const perTree = trained.min / trees;
  const setUp: Figure = {
    name: `lattice.setUp${name}`,
    value: Math.min(...setUps) / (10 * perTree),
    bar: { atMost: 1 },
    parts: { setUp: span(setUps), perTree: { min: perTree, median: trained.median / trees } },
  };
  if (theirs.length === 0) return [setUp];
  const parts = { federated: trained, xgboost: span(theirs) };
  return [
    { name: `lattice.overXgboost${name}`, value: trained.min / Math.min(...theirs), bar: { atMost }, parts },
    setUp,
  ];
}

/** Both schemes interleaved, on the first job. */
async function againstPaillier(table: Columns, repeats: number): Promise<Figure> {
  const [slow, fast]: [number[], number[]] = [[], []];
  for (let repeat = 0; repeat < repeats; repeat++) {
    slow.push(treeSeconds(await runFederation(benchJob(table, 2048, 2))) / 2);
    fast.push(treeSeconds(await runFederation(latticeJob(table, 20))) / 20);
  }
  return {
    name: "lattice.overPaillier",
    value: Math.min(...slow) / Math.min(...fast),
    bar: { atLeast: 100 },
    parts: { paillier: span(slow), lattice: span(fast) },
  };
}

/** Reading and starting take the same time in two jobs of different length. */
async function againstHistograms(table: Columns): Promise<Figure> {
  const cpu = async (trees: number): Promise<number> => {
    const { active, passives } = await runFederation(latticeJob(table, trees));
    return passives.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, active.cpuSeconds);
  };
  const [few, many] = [10, 60];
  const perTree = ((await cpu(many)) - (await cpu(few))) / (many - few);
  const rows = table.active.columns[0].length;
  const features = table.active.names.length + table.passive.names.length - 3;
  const plain = await plainHistogramSeconds(rows, features, bins);
  return {
    name: "lattice.cpuPerTree",
    value: perTree / plain,
    parts: { allParties: { min: perTree, median: perTree }, plainHistograms: { min: plain, median: plain } },
  };
}

/** Upload per instance and tree; a Paillier ciphertext of 2048 bits has 512. */
async function bytesPerInstance(seed: number): Promise<Figure> {
  const rows = 20_000;
  const trees = 2;
  const table = wholeNumbers(rows, [2, 2], seed);
  const parts: Record<string, { min: number; median: number }> = {};
  for (const levels of [3, 5, 6]) {
    const { active } = await runFederation(latticeJob(table, trees, levels));
    const bytes = active.bytes.activeToPassive / rows / trees;
    parts[`depth ${levels}`] = { min: bytes, median: bytes };
  }
  return { name: "lattice.bytesPerInstance", value: parts["depth 3"].min, parts };
}

/** From the first tree to the last. */
function treeSeconds({ active }: FederationResult): number {
  return (active.phasesMs.training - active.phasesMs.setUp) / 1000;
}

function latticeJob(table: Columns, trees: number, levels = depth): FederationJob {
  const training = { num_round: trees, max_depth: levels, max_bin: bins, eval_every: 0 };
  return benchJob(table, 2048, trees, { scheme: "lattice", keyBits: undefined, training });
}

function localJob({ active, passive, label }: Columns, trees: number) {
  const numbers = (cells: readonly string[]): number[] => cells.map(Number);
  const [id] = active.names;
  const isFeature = (name: string): boolean => name !== id && name !== label;
  const columns = [active, passive].flatMap(({ names, columns: cells }) =>
    cells.filter((_, i) => isFeature(names[i])).map(numbers),
  );
  return { labels: numbers(active.columns[active.names.indexOf(label)]), columns, trees, depth, bins };
}

/** Columns of few different numbers: a million rows of text would not fit otherwise. */
function wholeNumbers(rows: number, [own, others]: readonly [number, number], seed: number): Columns {
  const random = new SeededRandom(`bench-lattice-${seed}-${rows}`);
  const words = Array.from({ length: 1000 }, (_, i) => String(i));
  const score = new Float64Array(rows);
  const columns = (count: number): string[][] =>
    Array.from({ length: count }, (_, f) =>
      Array.from({ length: rows }, (_cell, row) => {
        const value = random.uniform();
        score[row] += (value - 0.5) / (f + 1);
        return words[Math.floor(value * words.length)];
      }),
    );
  const names = (prefix: string, count: number): string[] => Array.from({ length: count }, (_, f) => `${prefix}${f}`);
  const ids = Array.from({ length: rows }, (_, i) => String(i + 1));
  const [active, passive] = [columns(own), columns(others)];
  const labels = Array.from(score, (value) => (random.uniform() < 1 / (1 + Math.exp(-4 * value)) ? "1" : "0"));
  return {
    label: "y",
    active: { names: ["id", "y", ...names("a", own)], columns: [ids, labels, ...active] },
    passive: { names: ["id", ...names("p", others)], columns: [ids, ...passive] },
  };
}
