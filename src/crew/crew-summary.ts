/**
 * How a crew stands at one moment of an attempt, as a party's record keeps it: numbers, and names of workers; nothing
 * of another company, and nothing of the data. Runs in browsers too, hence zod's small build.
 */
import * as z from "zod/mini";
import type { Immutable } from "../base/immutable.ts";

const count = z.int().check(z.nonnegative());

/** Hindered: something is wrong with it, and its own log says what. */
const workerActivity = z.enum(["idle", "reading", "replaying", "loading", "summing", "hindered"]);

const workerState = z.object({
  worker: z.string(),
  threads: count,
  memoryBytes: count,
  /** That it holds. */
  blocks: count,
  doing: workerActivity,
});

const awaitedBlocks = z.object({
  seconds: count,
  /** Blocks that have not answered, by their holder; the name is empty where it is not known. */
  of: z.array(z.object({ worker: z.string(), blocks: count })),
});

export const crewSummary = z.object({
  /** The first of them, by name. */
  workers: z.array(workerState),
  workerCount: count,
  blocks: count,
  /** Those without a holder, as the workers say. */
  freeBlocks: count,
  /** Sealed, over all rounds of the attempt so far. */
  bytesToEngine: count,
  bytesFromEngine: count,
  /** The question that has waited longest; null: none is open. */
  awaited: z.nullable(awaitedBlocks),
});

export type WorkerActivity = z.infer<typeof workerActivity>;
export type WorkerState = Immutable<z.infer<typeof workerState>>;
export type AwaitedBlocks = Immutable<z.infer<typeof awaitedBlocks>>;
export type CrewSummary = Immutable<z.infer<typeof crewSummary>>;
