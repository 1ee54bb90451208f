/** A worker's process: its connection to the engine, its work, and its log. */
import { availableParallelism, hostname } from "node:os";
import { programVersion } from "../../base/program-version.ts";
import { osRandom } from "../../base/random.ts";
import { tlsDial } from "../../crew/line/tls-line.ts";
import { Worker } from "../../crew/worker.ts";
import { schemeNamed } from "../../scheme/registry.ts";
import { openWorkerEngine } from "./crew-access.ts";
import type { WorkerConfig } from "../config/crew-config.ts";
import { openBlockFiles } from "./party-crew.ts";
import { tellTasks } from "./reported-tasks.ts";
import type { TellWorker } from "./worker-log.ts";
import { WorkerMemory } from "./worker-memory.ts";

export interface WorkerRun {
  readonly stop: AbortSignal;
  /** Before the config's. */
  readonly threads?: number | undefined;
  /** No block is taken that would need more. */
  readonly memoryBytesMax?: number | undefined;
  readonly once: boolean;
}

/** Timeout of one answer of the engine: a worker retries, and must end when it is stopped. */
const answerMs = 10_000;
const lookMs = 500;

/** @throws TandemError CERTIFICATE, FILE_UNREADABLE, KEY_FORMAT: errors that are not transient */
export async function runWorker(config: WorkerConfig, tell: TellWorker, run: WorkerRun): Promise<void> {
  const id = newWorkerId();
  const version = programVersion();
  const threads = run.threads ?? config.threads ?? availableParallelism();
  tell(id, { type: "worker-started", crew: config.name, threads, version });
  const opened = await openWorkerEngine(config, id, {
    patienceMs: answerMs,
    firstPatienceMs: Infinity,
    signal: run.stop,
    onWait: (message) => tell(id, { type: "engine-waited", message }),
  }).catch((error: unknown) => {
    if (run.stop.aborted) return null;
    throw error;
  });
  if (opened === null) return tell(id, { type: "stopped" });
  tell(id, { type: "engine-found" });
  const memory = new WorkerMemory(run.memoryBytesMax);
  const worker: Worker = new Worker({
    ...opened,
    id,
    version,
    threads,
    files: openBlockFiles(config),
    dial: tlsDial(opened.identity),
    onLine: (why) => tell(id, why === null ? { type: "line-opened" } : { type: "line-missing", message: why }),
    schemeNamed,
    once: run.once,
    hasRoom: () => memory.hasRoom(worker.blockCount),
    onTrouble: (message) => tell(id, { type: "trouble", message }),
  });
  const quiet = tellBlocks(worker, (blocks) => tell(id, { type: "blocks", blocks }));
  const quietTasks = tellTasks(
    () => worker.taskCount,
    (tasks) => tell(id, { type: "tasks", tasks }),
  );
  run.stop.addEventListener("abort", () => tell(id, { type: "stopping" }), { once: true });
  try {
    await worker.run(run.stop);
  } finally {
    quiet();
    quietTasks();
    await opened.engine.close();
  }
  tell(id, { type: "stopped" });
}

function tellBlocks(worker: Worker, tell: (blocks: number) => void): () => void {
  let reported = 0;
  const look = setInterval(() => {
    if (worker.blockCount === reported) return;
    reported = worker.blockCount;
    tell(reported);
  }, lookMs);
  return () => clearInterval(look);
}

/** Two containers may share their host's name and the number of their process. */
function newWorkerId(): string {
  const host = hostname()
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "")
    .slice(0, 40);
  return `${host === "" ? "worker" : host}-${Buffer.from(osRandom.fill(new Uint8Array(4))).toString("hex")}`;
}
