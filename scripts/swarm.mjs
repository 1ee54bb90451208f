/**
 * Many jobs in which something is wrong, from seeds.
 *
 *   npm run swarm -- --seeds 1000 --from 1 [--crew]
 *   npm run swarm -- --hostile [--seed 1] [--jobs 200] [--messages 0] [--each 160] [--only 17] [--json]
 *
 * The first breaks connections and processes, and simulates them (test/world/faults/). Half of the seeds take a plain
 * job, the others one of every other kind in turn. With --crew the passive parties have workers, and these and their
 * engines break too; what the parties store must be what it is without workers. The second lies: a hostile party
 * against real processes (test/world/hostile/), at least that number of jobs and of changed messages, about `each` in a
 * job of a hostile active party. It needs `npm run build`.
 *
 * Prints what failed, with the command that does it again; exits with 1 if anything did.
 */
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "1000" },
    from: { type: "string", default: "1" },
    crew: { type: "boolean", default: false },
    hostile: { type: "boolean", default: false },
    seed: { type: "string", default: "1" },
    jobs: { type: "string", default: "200" },
    messages: { type: "string", default: "0" },
    each: { type: "string", default: "160" },
    only: { type: "string" },
    json: { type: "boolean", default: false },
  },
});
const { runSwarm } = await (values.hostile ? import("./hostile-swarm.mjs") : import("./fault-swarm.mjs"));
process.exit(await runSwarm(values));
