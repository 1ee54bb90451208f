/** Many jobs of both schemes and with every kind of engine, until a number of processes were killed or stopped. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TandemError } from "../../../src/base/error.ts";
import { natsServerProgram } from "../crews/engine-servers.ts";
import { startTandem } from "../tandem-process.ts";
import { killPlan, schemes } from "./kill-plan.ts";
import { type JobOutcome, KilledJob } from "./killed-job.ts";
import { KillWorld } from "./kill-world.ts";

export interface KillCampaignOptions {
  readonly seed: number;
  /** Kills and pauses. */
  readonly count: number;
  /** Only the job with this number. */
  readonly only?: number | undefined;
  readonly onJob: (job: number, report: KillReport, outcome: JobOutcome) => void;
}

export interface KillReport {
  readonly seed: number;
  jobs: number;
  faults: number;
  /** How often: by what was done, to whom, when, and with which engine and scheme. */
  readonly kinds: Record<string, Record<string, number>>;
  moves: number;
  epochsLost: number;
  attempts: number;
  longestStallSeconds: number;
  longestGapSeconds: number;
  readonly wrong: { readonly job: number; readonly what: string; readonly replay: string; readonly log: string }[];
}

/** @throws TandemError USAGE without a server */
export async function runKillCampaign({ seed, count, only, onJob }: KillCampaignOptions): Promise<KillReport> {
  const program = natsServerProgram();
  if (program === null) throw new TandemError("USAGE", "there is no nats-server here (apt install nats-server)");
  const root = await mkdtemp(join(tmpdir(), "tandem-kills-"));
  const world = await KillWorld.found(root, program);
  const report: KillReport = {
    seed,
    jobs: 0,
    faults: 0,
    kinds: {},
    moves: 0,
    epochsLost: 0,
    attempts: 0,
    longestStallSeconds: 0,
    longestGapSeconds: 0,
    wrong: [],
  };
  const expected = new Map<string, string>();
  for (const scheme of schemes) expected.set(scheme, await undisturbed(world, scheme));
  for (let job = only ?? 0; only === undefined ? report.faults < count : job === only; job++) {
    const plan = killPlan(seed, job);
    const outcome = await (await KilledJob.start(world, plan, `job-${job}`)).run(expected.get(plan.scheme) ?? "");
    add(report, job, outcome, join(root, `job-${job}.log`));
    for (const { who, how, at } of outcome.done) {
      countOne(report, "what", how);
      countOne(report, "who", who);
      countOne(report, "when", at ?? "at some other moment");
      countOne(report, "engine", plan.engine);
      countOne(report, "scheme", plan.scheme);
    }
    onJob(job, report, outcome);
  }
  if (report.wrong.length === 0) await rm(root, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  return report;
}

function add(report: KillReport, job: number, outcome: JobOutcome, log: string): void {
  report.jobs++;
  report.faults += outcome.done.length;
  report.moves += outcome.moves;
  report.epochsLost += outcome.epochsLost;
  report.attempts += outcome.attempts;
  report.longestStallSeconds = Math.max(report.longestStallSeconds, outcome.stallSeconds);
  report.longestGapSeconds = Math.max(report.longestGapSeconds, outcome.gapSeconds);
  if (outcome.failure === null) return;
  const replay = `npm run kills -- --seed ${report.seed} --only ${job}`;
  report.wrong.push({ job, what: outcome.failure, replay, log });
}

function countOne({ kinds }: KillReport, kind: string, value: string): void {
  const counts = (kinds[kind] ??= {});
  counts[value] = (counts[value] ?? 0) + 1;
}

/** The files of an undisturbed job without workers. */
async function undisturbed(world: KillWorld, scheme: (typeof schemes)[number]): Promise<string> {
  const name = `undisturbed-${scheme}`;
  const configs = await world.writeConfigs(name, scheme, null);
  const shop = startTandem(["party", "-c", configs.shop]);
  await startTandem(["train", "-c", configs.bank]).success();
  await shop.stop("SIGKILL");
  return world.modelOf(name);
}
