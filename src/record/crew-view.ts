/**
 * What a viewer may see of a party's own workers: counts and names of workers, nothing about other companies or data.
 * Folded by events/crew-events.ts. Runs in browsers too.
 */
import { formatCount } from "../base/text/format.ts";
import type { CrewSummary } from "../crew/crew-summary.ts";

export interface CrewView {
  readonly blocks: number;
  readonly rowsPerBlock: number;
  /** Null before the first progress event. */
  readonly summary: CrewSummary | null;
  /** How often a block was moved to another worker. */
  readonly moves: number;
  readonly epochsLost: number;
  readonly workersLost: number;
  /** Bytes of earlier attempts. */
  readonly earlier: { readonly toEngine: number; readonly fromEngine: number };
}

export const noCrew: CrewView = {
  blocks: 0,
  rowsPerBlock: 0,
  summary: null,
  moves: 0,
  epochsLost: 0,
  workersLost: 0,
  earlier: { toEngine: 0, fromEngine: 0 },
};

/** Bytes to and from the engine over all attempts. */
export function engineBytes({ earlier, summary }: CrewView): {
  readonly toEngine: number;
  readonly fromEngine: number;
} {
  return {
    toEngine: earlier.toEngine + (summary?.bytesToEngine ?? 0),
    fromEngine: earlier.fromEngine + (summary?.bytesFromEngine ?? 0),
  };
}

/** Which workers the party waits for; null: none. */
export function awaitedWords(summary: CrewSummary): string | null {
  const { awaited } = summary;
  if (awaited === null || awaited.of.length === 0) return null;
  const whom = awaited.of.map(
    ({ worker, blocks }) => `${worker === "" ? "no worker yet" : worker} (${blocksWord(blocks)})`,
  );
  const [first, second, ...more] = whom;
  const named = [first, second].filter((name) => name !== undefined).join(", ");
  return `waiting ${awaited.seconds} s for ${named}${more.length === 0 ? "" : ` and ${more.length} more`}`;
}

export function blocksWord(blocks: number): string {
  return blocks === 1 ? "1 block" : `${formatCount(blocks)} blocks`;
}
