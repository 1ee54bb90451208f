/**
 * The table of docs/privacy-choices.md: what a preset costs on seven tables.
 *
 *   node scripts/preset-cost.mjs --data <folder of the public data> [--privacy '{"privacy":"guarded"}'] [--only <name>]
 */
import { parseArgs } from "node:util";
import { importSources } from "./import-sources.mjs";

const { values } = parseArgs({
  options: {
    data: { type: "string", default: "../shared/data" },
    only: { type: "string", default: "" },
    rows: { type: "string" },
    privacy: { type: "string", default: '{"privacy":"guarded"}' },
    training: { type: "string", default: "{}" },
    splits: { type: "string", default: "7,8,9" },
    draws: { type: "string", default: "2" },
  },
});
const [{ measurePresets }] = await importSources("lab/presets/preset-cost.ts");
console.log("| data | rows | metric | alone | exact | preset | gain kept | lowest, highest |");
console.log("|---|--:|---|--:|--:|--:|--:|--:|");
const percent = (share) => `${(100 * share).toFixed(0)}%`;
const begun = Date.now();
await measurePresets({
  data: values.data,
  only: values.only,
  rows: values.rows === undefined ? undefined : Number(values.rows),
  privacy: JSON.parse(values.privacy),
  training: JSON.parse(values.training),
  splits: values.splits.split(",").map(Number),
  draws: Number(values.draws),
  onRow: ({ table, rows, metric, alone, exact, preset, kept, shares }) => {
    const [a, e, p] = [alone, exact, preset].map((value) => value.toPrecision(4));
    const spread = `${percent(Math.min(...shares))}, ${percent(Math.max(...shares))}`;
    console.log(`| ${table} | ${rows} | ${metric} | ${a} | ${e} | ${p} | ${percent(kept)} | ${spread} |`);
  },
});
console.error(`${((Date.now() - begun) / 1000).toFixed(0)} s`);
