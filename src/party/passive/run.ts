/** One passive party's process: reads the data, serves jobs, several at once, and stores its share of each model. */
import { lockFolder } from "../../base/files/process-lock.ts";
import type { Storage } from "../../base/files/storage.ts";
import type { PassiveEnd } from "../../transport/passive-service.ts";
import { partyRoutes } from "../../transport/party-service.ts";
import { diagnosisRoutes } from "../../transport/diagnosis-service.ts";
import { scoringRoutes } from "../../transport/scoring-service.ts";
import { connectionsFor } from "../../transport/connection-gate.ts";
import { listenTls } from "../../transport/tls-listen.ts";
import { dialActive } from "./dial-active.ts";
import type { PassiveConfig } from "../config/config.ts";
import type { Emit } from "../../record/events.ts";
import type { Crew } from "../../scheme/blocks/crew.ts";
import { requireOwnIdentity } from "../checks/before-job.ts";
import { requireAll } from "../checks/check.ts";
import { checkOutputs } from "../checks/own-machine.ts";
import { markInterrupted } from "../../record/interrupted-jobs.ts";
import { webhookOf } from "../approvals/webhook.ts";
import { QueueFile } from "../../record/queue-file.ts";
import { RecordKeeper } from "../../record/record-keeper.ts";
import type { QueuedJob } from "../queue/job-queue.ts";
import { LiveCredentials } from "./live-credentials.ts";
import { JobAdmission } from "./admission.ts";
import { PassiveScoring } from "../../scoring/passive-scoring.ts";

export interface PassiveRunOptions {
  readonly stop: AbortSignal;
  readonly once?: boolean;
  /** Default: the disk. */
  readonly storage?: Storage;
  /** Milliseconds since the epoch; default: the machine's clock. */
  readonly now?: () => number;
  /** How often certificates and pins are looked at for changes; default: every few seconds. */
  readonly credentialsMs?: number | undefined;
  /** Workers that hold the rows of its jobs; default: this process. */
  readonly crew?: Crew | undefined;
  /** Receives a function that writes events, such as those of a crew, to the job's record. */
  readonly onRecords?: ((emit: Emit) => void) | undefined;
}

/**
 * Serves until `stop` is aborted, or with `once` until the first job has ended.
 * @throws TandemError if it cannot start; with `once` also if the job fails
 */
export async function runPassive(config: PassiveConfig, emit: Emit, options: PassiveRunOptions): Promise<void> {
  const release = await lockFolder(config.output.directory);
  try {
    await serve(config, emit, options);
  } finally {
    await release();
  }
}

async function serve(
  config: PassiveConfig,
  tell: Emit,
  { stop, once = false, storage, now, credentialsMs, crew, onRecords }: PassiveRunOptions,
): Promise<void> {
  const { name } = config;
  await markInterrupted(config.output.directory, name);
  const records = new RecordKeeper(config.output.directory, tell);
  const { emit } = records;
  onRecords?.(emit);
  const queue = new QueueFile(config.output.directory);
  let jobEnded: (end: PassiveEnd) => void = () => {};
  const firstEnd = new Promise<PassiveEnd>((resolve) => (jobEnded = resolve));
  const identity = await requireOwnIdentity(config, "active", config.active, null);
  requireAll(await checkOutputs(config));
  const credentials = new LiveCredentials(config, identity, emit, { intervalMs: credentialsMs });
  const webhook = await webhookOf(config, emit);
  const admission = new JobAdmission(config, emit, (end) => jobEnded(end), {
    storage,
    now,
    crew,
    credentials,
    own: (job, line) => records.own(job, line),
    onRequest: (request, waiting) => webhook?.notify(request, waiting),
    onQueue: (jobs) =>
      queue.write(jobs.map(({ job, partner, since }, i) => ({ job, peer: partner, place: placeOf(jobs, i), since }))),
  });
  await admission.load();
  const scoring = new PassiveScoring(config, admission.data, emit, admission.budgets);
  const routes = [
    partyRoutes(admission),
    scoringRoutes(scoring),
    diagnosisRoutes({ name, checkTable: (training, caller) => admission.checkTable(training, caller) }),
  ];
  const connectionsMax = connectionsFor(config.policy.max_jobs ?? 1);
  const server = await listenTls(
    { routes: (router) => routes.forEach((add) => add(router)) },
    credentials.identity,
    credentials.pinned,
    config.listen ?? null,
    {
      onAdmitted: credentials.admitted,
      onRejected: (address, why) => emit({ type: "turned-away", party: name, address, why }),
      connectionsMax,
    },
  );
  credentials.serve(server);
  if (config.listen !== undefined) emit({ type: "listening", party: name, process: process.pid, port: server.port });
  const closing = new AbortController();
  const dialling = config.active.map((active) => dialActive(active, server, name, closing.signal, emit));
  const stopped = new Promise<PassiveEnd>((resolve) =>
    stop.addEventListener("abort", () => resolve({ failure: null }), { once: true }),
  );
  const { failure } = await (once ? Promise.race([firstEnd, stopped]) : stopped);
  emit({ type: "stopping", party: name }); // a running job will report next that its connection closed
  closing.abort();
  credentials.close();
  await server.close();
  await Promise.all(dialling);
  await scoring.close();
  webhook?.close();
  records.close();
  queue.write([]);
  await queue.close();
  emit({ type: "stopped", party: name });
  if (failure !== null) throw failure;
}

/** Those that run come first. */
function placeOf(jobs: readonly QueuedJob[], index: number): number {
  return jobs[index].isRunning ? 0 : index + 1 - jobs.filter(({ isRunning }) => isRunning).length;
}
