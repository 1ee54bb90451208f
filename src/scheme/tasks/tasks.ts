/**
 * Work without state: every worker can do a task, and do it again. A scheme cuts what it has to compute into tasks
 * where its party has workers; without them its own process computes, and there are no tasks.
 */
import type { TandemError } from "../../base/error.ts";

/** Tasks of one attempt. */
export interface Tasks {
  /**
   * Resolves with the result. Who wants several at a time asks for several; it waits where too many are out. A task
   * may be done more than once: one result is used, and no other is ever looked at.
   * @throws TandemError what the worker refuses; ENGINE_LOST, ENGINE_FULL, WORKERS_MISSING
   */
  run(task: Uint8Array): Promise<Uint8Array>;
}

export interface OpenTasks extends Tasks {
  /** Nothing more is wanted: workers forget the terms. */
  close(): Promise<void>;
}

/** What all tasks of an attempt have in common. */
export interface TaskJob {
  /** The scheme's name. */
  readonly scheme: string;
  /** What its workers must know: keys among it. It is stored nowhere. */
  readonly terms: Uint8Array;
}

/** A party's workers, as far as they do tasks. */
export interface TaskCrew {
  /** Whether workers are there. @throws TandemError WORKERS_MISSING, ENGINE_LOST */
  ready(): Promise<void>;
  /** Once per attempt. @throws TandemError WORKERS_MISSING, ENGINE_LOST */
  openTasks(job: TaskJob): Promise<OpenTasks>;
  /** Why the tasks that were opened last cannot be done any more; null: they can. */
  readonly failure: TandemError | null;
}

/** The fourth part of a scheme: doing a task, at a worker. One call at a time. */
export interface TaskWork {
  /** @throws TandemError for what it refuses */
  do(task: Uint8Array): Promise<Uint8Array>;
}
