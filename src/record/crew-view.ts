/**
 * What a viewer may see of a party's own workers, folded from events. Numbers and names of workers; nothing of another
 * company, and nothing of the data. Runs in browsers too.
 */
import { formatCount } from "../base/text/format.ts";
import { count, listOf, literal, objectOf, orNull, type Shape, text } from "../base/shape.ts";
import type { PartyEvent } from "./events.ts";

/** Hindered: something is wrong with it, and its own log says what. */
export const workerDoings = ["idle", "reading", "replaying", "loading", "summing", "hindered"] as const;

export interface CrewWorkerView {
  readonly worker: string;
  readonly threads: number;
  readonly memoryBytes: number;
  /** That it holds. */
  readonly blocks: number;
  readonly doing: (typeof workerDoings)[number];
}

/** How a crew stands at one moment of an attempt. */
export interface CrewSummary {
  /** The first of them, by name. */
  readonly workers: readonly CrewWorkerView[];
  readonly workerCount: number;
  readonly blocks: number;
  /** Those that nobody holds. */
  readonly freeBlocks: number;
  /** Sealed, in this attempt. */
  readonly bytesToEngine: number;
  readonly bytesFromEngine: number;
  /** The question that has waited longest, and the blocks that have not answered it; nobody is known by "". */
  readonly awaited: {
    readonly seconds: number;
    readonly of: readonly { readonly worker: string; readonly blocks: number }[];
  } | null;
}

export interface CrewView {
  blocks: number;
  rowsPerBlock: number;
  /** Null before the first look. */
  summary: CrewSummary | null;
  /** How often a block went to another worker. */
  moves: number;
  epochsLost: number;
  workersLost: number;
  /** Of the attempts before the present one. */
  earlier: { readonly toEngine: number; readonly fromEngine: number };
}

const workerShape = objectOf({
  worker: text,
  threads: count,
  memoryBytes: count,
  blocks: count,
  doing: literal(...workerDoings),
});
const summaryShape = objectOf({
  workers: listOf(workerShape),
  workerCount: count,
  blocks: count,
  freeBlocks: count,
  bytesToEngine: count,
  bytesFromEngine: count,
  awaited: orNull(objectOf({ seconds: count, of: listOf(objectOf({ worker: text, blocks: count })) })),
});

/** As they are read back from a record. */
export const crewShapes: Readonly<Record<string, Shape>> = {
  "crew-opened": objectOf({ blocks: count, rowsPerBlock: count }),
  "worker-joined": objectOf({ worker: text, threads: count }),
  "worker-lost": objectOf({ worker: text, blocks: count }),
  "block-moved": objectOf({ block: count }, { worker: text }),
  "epoch-lost": objectOf({ code: text }),
  "crew-progress": objectOf({ crew: summaryShape }),
};

function emptyCrew(): CrewView {
  return {
    blocks: 0,
    rowsPerBlock: 0,
    summary: null,
    moves: 0,
    epochsLost: 0,
    workersLost: 0,
    earlier: { toEngine: 0, fromEngine: 0 },
  };
}

/** @returns the crew with one event more; the same as before where it is not about a crew */
export function withCrewEvent(crew: CrewView | null, event: PartyEvent): CrewView | null {
  const before = crew ?? emptyCrew();
  switch (event.type) {
    case "crew-opened":
      return { ...opened(before), blocks: event.blocks, rowsPerBlock: event.rowsPerBlock };
    case "crew-progress":
      return { ...before, blocks: event.crew.blocks, summary: event.crew };
    case "block-moved":
      return { ...before, moves: before.moves + 1 };
    case "epoch-lost":
      return { ...before, epochsLost: before.epochsLost + 1 };
    case "worker-lost":
      return { ...before, workersLost: before.workersLost + 1 };
    default:
      return crew;
  }
}

/** Each attempt counts from zero. */
function opened(crew: CrewView): CrewView {
  const { toEngine, fromEngine } = engineBytes(crew);
  return { ...crew, summary: null, earlier: { toEngine, fromEngine } };
}

/** Over all attempts. */
export function engineBytes({ earlier, summary }: CrewView): {
  readonly toEngine: number;
  readonly fromEngine: number;
} {
  return {
    toEngine: earlier.toEngine + (summary?.bytesToEngine ?? 0),
    fromEngine: earlier.fromEngine + (summary?.bytesFromEngine ?? 0),
  };
}

/** Whom the party waits for; null: for nobody. */
export function awaitedWords(summary: CrewSummary): string | null {
  const { awaited } = summary;
  if (awaited === null || awaited.of.length === 0) return null;
  const whom = awaited.of.map(
    ({ worker, blocks }) => `${worker === "" ? "nobody yet" : worker} (${blocksWord(blocks)})`,
  );
  const [first, second, ...more] = whom;
  const named = [first, second].filter((name) => name !== undefined).join(", ");
  return `waiting ${awaited.seconds} s for ${named}${more.length === 0 ? "" : ` and ${more.length} more`}`;
}

export function blocksWord(blocks: number): string {
  return blocks === 1 ? "1 block" : `${formatCount(blocks)} blocks`;
}
