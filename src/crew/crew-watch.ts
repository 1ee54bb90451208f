/**
 * Looks at a crew's board while an attempt goes on: who has come, who is gone, and now and then how everything stands.
 * What it tells is for people; nothing depends on it.
 */
import { type Clock, sleep } from "./clock.ts";
import type { BoardView, CrewBoard } from "./crew-board.ts";
import { crewSnapshot, type EpochFacts, shownWorker } from "./crew-snapshot.ts";
import type { CrewSummary } from "./crew-summary.ts";

export type WatchEvent =
  | { readonly kind: "worker-joined"; readonly worker: string; readonly threads: number }
  /** @param blocks that it held when it was seen last */
  | { readonly kind: "worker-lost"; readonly worker: string; readonly blocks: number }
  /** It is there, and can do nothing. @param why in its own words */
  | { readonly kind: "worker-hindered"; readonly worker: string; readonly why: string }
  | { readonly kind: "progress"; readonly crew: CrewSummary };

export interface CrewWatchOptions {
  readonly board: CrewBoard;
  readonly clock: Clock;
  readonly on: (event: WatchEvent) => void;
}

const lookMs = 3000;
/** So many workers fit into one snapshot of a look; where there are more, snapshots are fewer. */
const workersPerLook = 16;
/** An engine that comes back without its memory has an empty board for a moment. */
const missingMax = 1;

interface Seen {
  blocks: number;
  missing: number;
  trouble: string;
}

/** One for all attempts of a party: who was there before has not come anew. */
export class CrewWatch {
  readonly #options: CrewWatchOptions;
  readonly #seen = new Map<string, Seen>();
  #view: BoardView = { epoch: null, hasOthers: false, workers: [] };
  #told = "";
  #looks = 0;

  constructor(options: CrewWatchOptions) {
    this.#options = options;
  }

  /** From now on, until the signal. @returns what tells how it stands at the end */
  begin(facts: () => EpochFacts, signal: AbortSignal): () => void {
    void this.#lookOn(facts, signal);
    return () => this.#tell(facts());
  }

  async #lookOn(facts: () => EpochFacts, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#look(facts, signal);
      await sleep(this.#options.clock, lookMs, signal);
    }
  }

  async #look(facts: () => EpochFacts, signal: AbortSignal): Promise<void> {
    // A server that is away is the business of whoever waits for an answer.
    const view = await this.#options.board.read().catch(() => null);
    if (view === null || signal.aborted) return;
    this.#view = view;
    this.#compare(view);
    if (this.#looks++ % Math.max(1, Math.ceil(view.workers.length / workersPerLook)) === 0) this.#tell(facts());
  }

  #compare({ workers }: BoardView): void {
    const { on } = this.#options;
    for (const [worker, seen] of this.#seen) {
      if (++seen.missing <= missingMax || workers.some(({ id }) => shownWorker(id) === worker)) continue;
      this.#seen.delete(worker);
      on({ kind: "worker-lost", worker, blocks: seen.blocks });
    }
    for (const { id, threads, blocks, trouble } of workers) {
      const worker = shownWorker(id);
      const before = this.#seen.get(worker);
      if (before === undefined) on({ kind: "worker-joined", worker, threads });
      if (trouble !== "" && trouble !== before?.trouble) on({ kind: "worker-hindered", worker, why: trouble });
      this.#seen.set(worker, { blocks, missing: 0, trouble });
    }
  }

  /** Only what is new. */
  #tell(facts: EpochFacts): void {
    const crew = crewSnapshot(this.#view, facts);
    const said = JSON.stringify(crew);
    if (said === this.#told) return;
    this.#told = said;
    this.#options.on({ kind: "progress", crew });
  }
}
