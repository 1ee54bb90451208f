/**
 * Watches a crew's status table during an attempt: reports workers that joined or left, and periodic snapshots. Its
 * events are informational; nothing depends on them.
 */
import { type Clock, sleep } from "./clock.ts";
import type { CrewStatus, CrewStatusTable } from "./crew-status.ts";
import { crewSnapshot, type EpochFacts, shownWorker } from "./crew-snapshot.ts";
import type { CrewSummary } from "./crew-summary.ts";

export type WatchEvent =
  | { readonly kind: "worker-joined"; readonly worker: string; readonly threads: number }
  /** @param blocks held when it was last seen */
  | { readonly kind: "worker-lost"; readonly worker: string; readonly blocks: number }
  /** It is available but cannot work. @param why its own message */
  | { readonly kind: "worker-hindered"; readonly worker: string; readonly why: string }
  | { readonly kind: "progress"; readonly crew: CrewSummary };

export interface CrewWatchOptions {
  readonly statusTable: CrewStatusTable;
  readonly clock: Clock;
  readonly on: (event: WatchEvent) => void;
}

const lookMs = 3000;
/** With more workers than this, snapshots are less frequent. */
const workersPerLook = 16;
/** An engine that restarts without its memory has an empty table for a moment. */
const missingMax = 1;

interface Seen {
  blocks: number;
  missing: number;
  trouble: string;
}

/** One instance for all attempts of a party, so that known workers are not reported again. */
export class CrewWatch {
  readonly #options: CrewWatchOptions;
  readonly #seen = new Map<string, Seen>();
  #view: CrewStatus = { epoch: null, hasOthers: false, workers: [] };
  #reported = "";
  #looks = 0;

  constructor(options: CrewWatchOptions) {
    this.#options = options;
  }

  /** Runs until the signal. @returns a function that reports the final state */
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
    // An unreachable server is handled by the code that waits for an answer.
    const view = await this.#options.statusTable.read().catch(() => null);
    if (view === null || signal.aborted) return;
    this.#view = view;
    this.#compare(view);
    if (this.#looks++ % Math.max(1, Math.ceil(view.workers.length / workersPerLook)) === 0) this.#tell(facts());
  }

  #compare({ workers }: CrewStatus): void {
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

  /** Reports changes only. */
  #tell(facts: EpochFacts): void {
    const crew = crewSnapshot(this.#view, facts);
    const said = JSON.stringify(crew);
    if (said === this.#reported) return;
    this.#reported = said;
    this.#options.on({ kind: "progress", crew });
  }
}
