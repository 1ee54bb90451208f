/**
 * The state of a crew at one moment of an attempt, as a party's record stores it: numbers and names of workers; nothing
 * of another company, and nothing of the data. Also runs in browsers, hence zod's small build.
 */
import * as z from "zod/mini";
import type { Immutable } from "../base/immutable.ts";

const count = z.int().check(z.nonnegative());

/** Hindered: the worker has a problem, which its own log describes. */
const workerActivity = z.enum(["idle", "reading", "replaying", "loading", "summing", "hindered"]);

const workerState = z.object({
  worker: z.string(),
  threads: count,
  memoryBytes: count,
  /** Held blocks. */
  blocks: count,
  doing: workerActivity,
});

const awaitedBlocks = z.object({
  seconds: count,
  /** Blocks that have not answered, by holder; the name is empty if unknown. */
  of: z.array(z.object({ worker: z.string(), blocks: count })),
});

export const crewSummary = z.object({
  /** The first of them, by name. */
  workers: z.array(workerState),
  workerCount: count,
  blocks: count,
  /** Blocks without a holder, as reported by the workers. */
  freeBlocks: count,
  /** Encrypted bytes, over all rounds of the attempt so far. */
  bytesToEngine: count,
  bytesFromEngine: count,
  /** The oldest open question; null: none. */
  awaited: z.nullable(awaitedBlocks),
});

export type WorkerActivity = z.infer<typeof workerActivity>;
export type WorkerState = Immutable<z.infer<typeof workerState>>;
export type AwaitedBlocks = Immutable<z.infer<typeof awaitedBlocks>>;
export type CrewSummary = Immutable<z.infer<typeof crewSummary>>;
