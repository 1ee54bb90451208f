/**
 * Real processes of a party with workers, killed, stopped and terminated in the middle of jobs, from a seed.
 *
 *   npm run kills -- [--count 200] [--seed 1] [--only 17] [--json]
 *
 * At least this number of kills and pauses, over jobs of all schemes and three kinds of engine (test/world/kills/).
 * Every job must end by itself with the model of an undisturbed one, and never stand still for more than its lease and
 * 30 s. It needs `npm run build` and nats-server. Prints what failed, with the command that does it again (what happens
 * when depends on the machine too), and where the logs of all processes are; exits with 1 if anything did.
 *
 *   npm run kills -- --relay [--count 200] [--seed 1] [--only 17] [--lanes 2] [--json]
 *
 * Instead: the relay, the parties and the jobs of two banks that reach one party through it, while jobs wait for
 * approval and for their turn, and certificates are renewed (test/world/kills/relayed-jobs.ts). No nats-server.
 */
import { parseArgs } from "node:util";
import { importSources } from "./import-sources.mjs";

const { values } = parseArgs({
  options: {
    count: { type: "string", default: "200" },
    seed: { type: "string", default: "1" },
    only: { type: "string" },
    relay: { type: "boolean", default: false },
    lanes: { type: "string", default: "2" },
    json: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  console.log("npm run kills -- [--relay [--lanes 2]] [--count 200] [--seed 1] [--only 17] [--json]");
  process.exit(0);
}
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));

process.setMaxListeners(200); // Each process of a job has one, which ends it with this script.
const terms = {
  seed: Number(values.seed),
  count: Number(values.count),
  only: values.only === undefined ? undefined : Number(values.only),
};
const report = values.relay ? await relayed() : await withCrews();
console.log(values.json ? JSON.stringify(report) : report);
process.exit(report.wrong.length === 0 ? 0 : 1);

async function withCrews() {
  const [{ runKillCampaign }] = await importSources("test/world/kills/kill-campaign.ts");
  return runKillCampaign({
    ...terms,
    onJob(job, { faults, longestStallSeconds, wrong }, { failure, done, stallSeconds, attempts }) {
      const stalls = `longest stall ${stallSeconds.toFixed(1)} s`;
      console.error(
        `job ${job}: ${done.length} kills and pauses, ${attempts} attempts, ${stalls}` +
          `; ${faults} so far, longest ${longestStallSeconds.toFixed(1)} s`,
      );
      if (failure !== null)
        console.error(`job ${job}: ${failure}\n  replay: ${wrong.at(-1).replay}\n  ${wrong.at(-1).log}`);
    },
  });
}

async function relayed() {
  const [{ runRelayedCampaign }] = await importSources("test/world/kills/relayed-campaign.ts");
  return runRelayedCampaign({
    ...terms,
    lanes: Number(values.lanes),
    onSet(set, { kills, wrong }, { failure, kills: killed, renewed, errors, seconds }) {
      const done = `${killed.length} kills, ${renewed ?? "no company"} renewed, ${seconds.toFixed(0)} s`;
      console.error(`set ${set}: ${done}; ${kills} kills so far`);
      for (const error of errors) console.error(`set ${set}: started again: ${error}`);
      if (failure !== null)
        console.error(`set ${set}: ${failure}\n  replay: ${wrong.at(-1).replay}\n  ${wrong.at(-1).folder}`);
    },
  });
}
