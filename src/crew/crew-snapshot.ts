/**
 * A snapshot of its crew for the owner of a party. Entries that workers wrote are bounded here, although they were
 * encrypted: pages and records are made from them.
 */
import { doing as doings } from "./activity.ts";
import type { CrewStatus, NamedWorker } from "./crew-status.ts";
import type { CrewSummary, WorkerActivity, WorkerState } from "./crew-summary.ts";

/** The party's own knowledge of an epoch. */
export type EpochFacts = Pick<CrewSummary, "blocks" | "bytesToEngine" | "bytesFromEngine" | "awaited">;

/** A limit: a page of hundreds of workers is unreadable, and a record is bounded. */
export const workersShown = 64;
const nameSyntax = /^[a-z0-9-]{1,64}$/;
const threadsMax = 4096;
const mib = 2 ** 20;
const activities: ReadonlyMap<number, WorkerActivity> = new Map([
  [doings.nothing, "idle"],
  [doings.reading, "reading"],
  [doings.replaying, "replaying"],
  [doings.loading, "loading"],
  [doings.summing, "summing"],
]);

/** A worker's name as it may be shown. */
export function shownWorker(name: string): string {
  return nameSyntax.test(name) ? name : "unnamed";
}

export function crewSnapshot({ workers }: CrewStatus, facts: EpochFacts): CrewSummary {
  const states = workers
    .map((worker) => stateOf(worker, facts.blocks))
    .toSorted((a, b) => (a.worker < b.worker ? -1 : a.worker > b.worker ? 1 : 0));
  const held = states.reduce((sum, { blocks }) => sum + blocks, 0);
  const { awaited } = facts;
  return {
    ...facts,
    awaited: awaited && { ...awaited, of: awaited.of.slice(0, workersShown) },
    workers: states.slice(0, workersShown),
    workerCount: states.length,
    freeBlocks: Math.max(0, facts.blocks - held),
  };
}

function stateOf({ id, threads, memoryMib, blocks, doing, trouble }: NamedWorker, blockCount: number): WorkerState {
  return {
    worker: shownWorker(id),
    threads: Math.min(threads, threadsMax),
    memoryBytes: memoryMib * mib,
    blocks: Math.min(blocks, blockCount),
    // A later version may have activities that this one does not know.
    doing: trouble === "" ? (activities.get(doing) ?? "idle") : "hindered",
  };
}
