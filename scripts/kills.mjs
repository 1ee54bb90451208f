/**
 * Real processes of a party with workers, killed, stopped and terminated in the middle of jobs, from a seed.
 *
 *   npm run kills -- [--count 200] [--seed 1] [--only 17] [--json]
 *
 * At least this number of kills and pauses, over jobs of all schemes and three kinds of engine (test/world/kills/).
 * Every job must end by itself with the model of an undisturbed one, and never stand still for more than its lease and
 * 30 s. It needs `npm run build` and nats-server. Prints what failed, with the command that does it again (what happens
 * when depends on the machine too), and where the logs of all processes are; exits with 1 if anything did.
 */
import { parseArgs } from "node:util";
import { importSources } from "./import-sources.mjs";

const { values } = parseArgs({
  options: {
    count: { type: "string", default: "200" },
    seed: { type: "string", default: "1" },
    only: { type: "string" },
    json: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  console.log("npm run kills -- [--count 200] [--seed 1] [--only 17] [--json]");
  process.exit(0);
}
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));

const [{ runKillCampaign }] = await importSources("test/world/kills/kill-campaign.ts");
const report = await runKillCampaign({
  seed: Number(values.seed),
  count: Number(values.count),
  only: values.only === undefined ? undefined : Number(values.only),
  onJob(job, { faults, longestStallSeconds, wrong }, { failure, done, stallSeconds, attempts }) {
    console.error(
      `job ${job}: ${done.length} kills and pauses, ${attempts} attempts, longest stall ${stallSeconds.toFixed(1)} s` +
        `; ${faults} so far, longest ${longestStallSeconds.toFixed(1)} s`,
    );
    if (failure !== null)
      console.error(`job ${job}: ${failure}\n  replay: ${wrong.at(-1).replay}\n  ${wrong.at(-1).log}`);
  },
});
console.log(values.json ? JSON.stringify(report) : report);
process.exit(report.wrong.length === 0 ? 0 : 1);
