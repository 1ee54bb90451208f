/**
 * Runs a thread that reads a file, and ends it when it takes too long or too much memory. It never rejects because of
 * the file's contents: the end of the thread is the result.
 */
import { Worker } from "node:worker_threads";
import { isBuilt, packagePath } from "../base/package-root.ts";
import type { ThreadLimits } from "./limits.ts";
import type { ParquetAnswer, ParquetMessage, ParquetTask } from "./parquet-thread.ts";

export interface Watched {
  readonly kind: "done" | "failed" | "slow" | "large";
  readonly cause?: unknown;
}

/** Bundled with the program; for the sources scripts/build-threads.mjs makes it. */
const threadPath = packagePath(...(isBuilt ? ["dist", "program"] : ["build", "threads"]), "parquet-thread.mjs");

/** Time is counted in ticks of this thread: a machine that was asleep has none. */
const tickMs = 100;

/**
 * @param limits asked again and again: they may depend on what was received
 * @param onMessage says what to answer the thread, if it waits for something
 * @throws what `onMessage` throws, when the thread has been ended
 */
export async function watchThread(
  task: ParquetTask,
  limits: () => ThreadLimits,
  onMessage: (message: ParquetMessage) => ParquetAnswer | null,
): Promise<Watched> {
  const resourceLimits = { maxOldGenerationSizeMb: limits().heapMegabytes };
  const thread = new Worker(threadPath, { workerData: task, resourceLimits, execArgv: [], name: "tandem-parquet" });
  let timer: NodeJS.Timeout | null = null;
  try {
    return await new Promise<Watched>((resolve, reject) => {
      // The time to start does not count.
      let isStarted = false;
      let totalMs = 0;
      let silentMs = 0;
      timer = setInterval(() => {
        if (!isStarted) return;
        totalMs += tickMs;
        silentMs += tickMs;
        const { silenceMs: silenceMsMax, totalMs: totalMsMax } = limits();
        if (silentMs > silenceMsMax || totalMs > totalMsMax) resolve({ kind: "slow" });
      }, tickMs);
      thread.on("message", (message: ParquetMessage) => {
        isStarted = true;
        silentMs = 0;
        try {
          const answer = onMessage(message);
          if (answer !== null) thread.postMessage(answer, []);
        } catch (error) {
          reject(error);
        }
        if (message.kind === "done") resolve({ kind: "done" });
      });
      thread.on("messageerror", (cause) => resolve({ kind: "failed", cause }));
      thread.on("error", (cause) => resolve({ kind: isOutOfMemory(cause) ? "large" : "failed", cause }));
      thread.on("exit", () => resolve({ kind: "failed" }));
    });
  } finally {
    if (timer !== null) clearInterval(timer);
    await thread.terminate();
  }
}

function isOutOfMemory(cause: unknown): boolean {
  return cause instanceof Error && "code" in cause && cause.code === "ERR_WORKER_OUT_OF_MEMORY";
}
