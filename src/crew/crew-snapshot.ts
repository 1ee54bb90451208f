/**
 * What a party's owner may see of its crew at one moment: numbers, and names of workers. Whatever a worker has put on
 * the board is bounded here, though it was sealed: a page and a record are made from it.
 */
import { doing as doings } from "./activity.ts";
import type { BoardView, NamedWorker } from "./crew-board.ts";

export const workerDoings = ["idle", "reading", "replaying", "loading", "summing", "hindered"] as const;
/** Hindered: something is wrong with it, and its own log says what. */
export type WorkerDoing = (typeof workerDoings)[number];

export interface WorkerState {
  readonly worker: string;
  readonly threads: number;
  readonly memoryBytes: number;
  readonly blocks: number;
  readonly doing: WorkerDoing;
}

/** What the party itself knows of an epoch. */
export interface EpochFacts {
  readonly blocks: number;
  /** Sealed, over all rounds so far. */
  readonly bytesToEngine: number;
  readonly bytesFromEngine: number;
  /** The question that has waited longest; null: none is open. */
  readonly awaited: Awaited | null;
}

export interface Awaited {
  readonly seconds: number;
  /** Blocks that have not answered, by who holds them; the name is empty where nobody has said so. */
  readonly of: readonly { readonly worker: string; readonly blocks: number }[];
}

export interface CrewSnapshot extends EpochFacts {
  /** The first so many, by name. */
  readonly workers: readonly WorkerState[];
  readonly workerCount: number;
  /** As the workers say: those that nobody holds. */
  readonly freeBlocks: number;
}

/** A page of hundreds of workers is none to look at, and a record has an end. */
export const workersTold = 64;
const nameSyntax = /^[a-z0-9-]{1,64}$/;
const threadsMax = 4096;
const mib = 2 ** 20;
const doingOf: ReadonlyMap<number, WorkerDoing> = new Map([
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

export function crewSnapshot({ workers }: BoardView, facts: EpochFacts): CrewSnapshot {
  const states = workers
    .map((worker) => stateOf(worker, facts.blocks))
    .toSorted((a, b) => (a.worker < b.worker ? -1 : a.worker > b.worker ? 1 : 0));
  const held = states.reduce((sum, { blocks }) => sum + blocks, 0);
  const { awaited } = facts;
  return {
    ...facts,
    awaited: awaited && { ...awaited, of: awaited.of.slice(0, workersTold) },
    workers: states.slice(0, workersTold),
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
    // A later version may do more than this one knows.
    doing: trouble === "" ? (doingOf.get(doing) ?? "idle") : "hindered",
  };
}
