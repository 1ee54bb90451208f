/**
 * The tables of docs/leakage.md: what the parties of a job compute about each other, by preset and scheme.
 *
 *   node scripts/attack-figures.mjs --data <folder of the public data> [--only <name>] [--seed 7] [--seconds 60]
 *     [--passives 2]
 *     [--privacy '{"exact":{},"hidden sums":{"hidden_sums":true}}'] [--training '{"max_depth":5}']
 *   node scripts/attack-figures.mjs --noise 10,5 --jobs 1,4,16
 */
import { parseArgs } from "node:util";
import { importSources } from "./import-sources.mjs";

const presets = { exact: {}, "hidden sums": { hidden_sums: true }, guarded: { privacy: "guarded" } };
const { values } = parseArgs({
  options: {
    data: { type: "string", default: "../shared/data" },
    only: { type: "string", default: "" },
    seed: { type: "string", default: "7" },
    seconds: { type: "string", default: "60" },
    passives: { type: "string", default: "1" },
    privacy: { type: "string", default: JSON.stringify(presets) },
    training: { type: "string", default: "{}" },
    noise: { type: "string" },
    jobs: { type: "string", default: "1,4,16" },
  },
});
const [{ measureAttacks }, { measureNoise }] = await importSources(
  "lab/attacks/attack-figures.ts",
  "lab/attacks/noise-figures.ts",
);
const shown = (value, digits = 2) => (value === null ? "-" : value.toFixed(digits));
const both = (guess) => (guess === null ? "-" : guess.map((auc) => shown(auc)).join(" / "));
const begun = process.cpuUsage();
const common = { data: values.data, only: values.only, seed: Number(values.seed) };
if (values.noise === undefined) await attacks();
else await noise(values.noise.split(",").map(Number));
const { user, system } = process.cpuUsage(begun);
console.error(`${((user + system) / 1e6).toFixed(0)} s of CPU time`);

async function attacks() {
  console.log(
    "| data | preset | scheme | bits | outcomes | sums | bound | opened of nodes, lost | AUC of model " +
      "| by members | by own splits | own columns |",
  );
  console.log("|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
  await measureAttacks({
    ...common,
    seconds: Number(values.seconds),
    passives: Number(values.passives),
    privacy: JSON.parse(values.privacy),
    training: JSON.parse(values.training),
    onRow: (row) => {
      const opened = `${row.opened} of ${row.nodes}, ${row.lost}`;
      const learned = [row.bits, row.outcomes, row.sums].map((bits) => shown(bits)).join(" | ");
      const labels = `${shown(row.model)} | ${both(row.members)} | ${both(row.splits)} | ${shown(row.columnsAlone)}`;
      const name = `${row.table}, ${row.rows}`;
      console.log(
        `| ${name} | ${row.privacy} | ${row.scheme} | ${learned} | ${shown(row.bound, 3)} | ${opened} | ${labels} |`,
      );
    },
  });
}

async function noise(noises) {
  console.log("| data | noise | jobs | open | learned | channel |");
  console.log("|---|--:|--:|--:|--:|--:|");
  await measureNoise({
    ...common,
    noises,
    jobs: values.jobs.split(",").map(Number),
    onRow: ({ table, noise: deviation, jobs, open, learned, channel }) => {
      const bits = [open, learned, channel].map((value) => shown(value, 4)).join(" | ");
      console.log(`| ${table} | ${deviation} | ${jobs} | ${bits} |`);
    },
  });
}
