/**
 * The jobs of published benchmarks (docs/compare.md), between two parties as processes on this machine, in one place,
 * and with XGBoost where python3 has it.
 *
 *   npm run published -- NAME [--scheme paillier,curve,lattice] [--data <folder of the public data>] [--rounds 10]
 *                        [--rows 20000] [--seed 7] [--privacy guarded] [--folder <folder>] [--json]
 *
 * Without NAME it lists the jobs, without schemes it takes all that the job fits. Generated tables are kept in `folder`
 * and used again. Needs `npm run build`. Prints a line of docs/compare.md per scheme, with --json all it measured.
 */
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { importSources } from "./import-sources.mjs";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    scheme: { type: "string" },
    data: { type: "string", default: process.env.TANDEM_DATA },
    rounds: { type: "string" },
    rows: { type: "string" },
    seed: { type: "string", default: "7" },
    privacy: { type: "string" },
    line: { type: "string" },
    folder: { type: "string", default: join(tmpdir(), "tandem-published") },
    json: { type: "boolean", default: false },
  },
});
const [{ measurePublished }, { publishedJobs }, { thisMachine, thisCommit }] = await importSources(
  "lab/published/measure.ts",
  "lab/published/jobs.ts",
  "lab/bench/machine.ts",
);
const names = publishedJobs.map(({ name }) => name);
const job = publishedJobs.find(({ name }) => name === positionals[0]);
if (job === undefined) {
  console.error(`NAME is one of ${names.join(", ")}`);
  process.exit(1);
}
const number = (name) => (values[name] === undefined ? undefined : Number(values[name]));
const [megabitsPerSecond, roundTripMs] = values.line?.split(",").map(Number) ?? [];
const line = values.line === undefined ? null : { megabitsPerSecond, roundTripMs };
const options = { ...values, rounds: number("rounds"), rows: number("rows"), seed: number("seed"), line };
if (!values.json) {
  const { cpu, cores, node } = thisMachine();
  console.log(`${job.what}; ${cpu}, ${cores} cores, Node ${node}, commit ${thisCommit()}, seed ${options.seed}\n`);
  const heads = ["scheme", "rows x columns", "trees", "wall, CPU per tree", "wall, CPU in all", "peak memory, MB"];
  console.log(`| ${[...heads, "MB sent per tree", "metric", "one place", "XGBoost"].join(" | ")} |`);
  console.log(`|${" --- |".repeat(10)}`);
}
for (const scheme of values.scheme?.split(",") ?? Object.keys(job.rounds)) {
  const figures = await measurePublished(job, scheme, options);
  if (values.json) console.log(JSON.stringify({ job: job.name, scheme, ...figures }));
  else console.log(`| ${cellsOf(scheme, figures).join(" | ")} |`);
}

function cellsOf(scheme, figures) {
  const { rows, columns, trees, wallPerTree, cpuPerTree, wall, cpu, peakBytes, bytesPerTree, xgboost, onePlace } =
    figures;
  const megabytes = (size) => Math.round(size / 1e6);
  return [
    scheme,
    `${rows} x ${columns}`,
    trees,
    `${wallPerTree.toPrecision(3)}, ${cpuPerTree.toPrecision(3)}`,
    `${wall.toFixed(1)}, ${cpu.toFixed(1)}`,
    `${megabytes(peakBytes.active)} + ${megabytes(peakBytes.passive)}`,
    (bytesPerTree / 1e6).toPrecision(3),
    `${figures.metric} ${figures.value.toFixed(4)}`,
    `${onePlace.value.toFixed(4)}, ${onePlace.cpu.toPrecision(3)} s CPU`,
    xgboost === null
      ? "-"
      : `${xgboost.value.toFixed(4)}, ${xgboost.trees} trees, ${xgboost.wall.toPrecision(2)} s, ` +
        `${xgboost.cpu.toPrecision(2)} s CPU (${xgboost.version})`,
  ];
}
