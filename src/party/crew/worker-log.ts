/**
 * A worker's log: one line per event, as JSON for programs or in words for a terminal. Numbers and names of machines
 * only: nothing of a block's contents, and nothing of a job.
 */
import type { LogOptions } from "../../record/log.ts";
import { type LogLevel, logLevels } from "../../record/log-line.ts";

export type WorkerEvent =
  | { readonly type: "worker-started"; readonly crew: string; readonly threads: number; readonly version: string }
  | { readonly type: "engine-waited"; readonly message: string }
  | { readonly type: "engine-found" }
  /** A direct connection to the party, for the bulk of a round's data; once per attempt. */
  | { readonly type: "line-opened" }
  | { readonly type: "line-missing"; readonly message: string }
  | { readonly type: "blocks"; readonly blocks: number }
  /** Since it was said last. */
  | { readonly type: "tasks"; readonly tasks: number }
  /** Empty: it is over. */
  | { readonly type: "trouble"; readonly message: string }
  | { readonly type: "stopping" }
  | { readonly type: "stopped" };

/** As programs read it. */
const wentOn = { type: "trouble-over" } as const;

export type TellWorker = (worker: string, event: WorkerEvent) => void;

export function workerLog({ level, terminal, write, now }: LogOptions): TellWorker {
  return (worker, event) => {
    const own = levelOf(event);
    if (logLevels.indexOf(own) < logLevels.indexOf(level)) return;
    const time = now().toISOString();
    if (terminal) return write(`${time.slice(0, 19).replace("T", " ")}  ${worker}: ${wordsOf(event)}\n`);
    const { type, ...facts } = event.type === "trouble" && event.message === "" ? wentOn : event;
    write(`${JSON.stringify({ time, level: own, event: type, worker, ...facts })}\n`);
  };
}

function levelOf(event: WorkerEvent): LogLevel {
  if (event.type === "engine-waited" || event.type === "line-missing") return "warn";
  return event.type === "trouble" && event.message !== "" ? "warn" : "info";
}

function wordsOf(event: WorkerEvent): string {
  switch (event.type) {
    case "worker-started":
      return `works for ${event.crew} with ${event.threads} ${event.threads === 1 ? "thread" : "threads"}`;
    case "engine-waited":
      return `waits for the engine: ${event.message}`;
    case "engine-found":
      return "connected to the engine";
    case "line-opened":
      return "connected to the party directly";
    case "line-missing":
      return `no direct connection to the party; gradients come through the engine instead: ${event.message}`;
    case "blocks":
      return event.blocks === 1 ? "holds 1 block" : `holds ${event.blocks} blocks`;
    case "tasks":
      return event.tasks === 1 ? "did 1 task" : `did ${event.tasks} tasks`;
    case "trouble":
      return event.message === "" ? "resumes" : event.message;
    case "stopping":
      return "stops, and gives its blocks back";
    case "stopped":
      return "stopped";
  }
}
