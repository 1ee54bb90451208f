/**
 * Stateless work: every worker can run a task, and run it again. A scheme divides its computation into tasks if its
 * party has workers; otherwise it computes in its own process.
 */
import type { TandemError } from "../../base/error.ts";

/** Tasks of one attempt. */
export interface Tasks {
  /**
   * Resolves with the result. Callers may run several tasks concurrently; the call waits while too many are pending. A
   * task may run more than once: one result is used and the others are ignored.
   * @throws TandemError an error of the worker; ENGINE_LOST, ENGINE_FULL, WORKERS_MISSING
   */
  run(task: Uint8Array): Promise<Uint8Array>;
}

export interface OpenTasks extends Tasks {
  /** Ends the tasks: workers discard the terms. */
  close(): Promise<void>;
}

/** The terms that all tasks of an attempt share. */
export interface TaskJob {
  /** The scheme's name. */
  readonly scheme: string;
  /** The terms that its workers need, keys included. Never stored. */
  readonly terms: Uint8Array;
}

/** A party's workers, as far as they run tasks. */
export interface TaskCrew {
  /** Waits until workers are available. @throws TandemError WORKERS_MISSING, ENGINE_LOST */
  ready(): Promise<void>;
  /** Once per attempt. @throws TandemError WORKERS_MISSING, ENGINE_LOST */
  openTasks(job: TaskJob): Promise<OpenTasks>;
  /** Why the tasks opened last can no longer run; null: they can. */
  readonly failure: TandemError | null;
}

/** Runs tasks of a scheme at a worker. Calls do not overlap. */
export interface TaskWork {
  /** @throws TandemError if the task fails */
  do(task: Uint8Array): Promise<Uint8Array>;
}
