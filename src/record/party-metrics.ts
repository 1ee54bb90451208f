/** What a passive party counts for Prometheus, from its public events alone: numbers, no names and no ids. */
import { Counter, Gauge, metricsText } from "../base/metrics.ts";
import type { CrewSummary } from "./crew-view.ts";
import type { PartyEvent } from "./events.ts";
import { noRounds, type RoundsSoFar, withRoundEvent } from "./redone-rounds.ts";

export class PartyMetrics {
  readonly #trees = counter("tandem_trees_total", "Trees that were finished.");
  readonly #jobs = new Counter("tandem_jobs_ended_total", "Attempts at a job that ended, by result.");
  readonly #alarms = counter("tandem_alarms_total", "Alarms: somebody should look.");
  readonly #redone = counter("tandem_rounds_redone_total", "Rounds that were begun, lost and done once more.");
  readonly #joined = counter("tandem_crew_workers_joined_total", "Workers that came.");
  readonly #lost = counter("tandem_crew_workers_lost_total", "Workers that went, whether they said so or not.");
  readonly #moves = counter("tandem_crew_block_moves_total", "Blocks that went to another worker.");
  readonly #epochsLost = counter("tandem_crew_epochs_lost_total", "Attempts whose work at the workers was lost.");
  readonly #bytes = new Counter("tandem_crew_engine_bytes_total", "Sealed bytes to and from the engine.");
  readonly #workers = this.#gauge("tandem_crew_workers", "Workers on the board.", ({ workerCount }) => workerCount);
  readonly #held = this.#gauge("tandem_crew_blocks_held", "Blocks that workers hold.", heldBlocks);
  readonly #free = this.#gauge("tandem_crew_blocks_free", "Blocks that nobody holds.", ({ freeBlocks }) => freeBlocks);
  readonly #waited = this.#gauge(
    "tandem_crew_waited_seconds",
    "How long the oldest open question has waited for workers.",
    ({ awaited }) => awaited?.seconds ?? 0,
  );
  #rounds: RoundsSoFar = noRounds;
  #job = "";
  /** Of the present attempt; null: there is none. */
  #summary: CrewSummary | null = null;

  constructor() {
    for (const direction of ["to", "from"]) this.#bytes.add({ direction }, 0);
    for (const result of ["finished", "failed"]) this.#jobs.add({ result }, 0);
  }

  readonly see = (event: PartyEvent): void => {
    this.#countRounds(event);
    switch (event.type) {
      case "passive-tree":
        return this.#trees.add({});
      case "job-ended":
        this.#summary = null;
        return this.#jobs.add({ result: event.failure === null ? "finished" : "failed" });
      case "alarm":
        return this.#alarms.add({});
      case "worker-joined":
        return this.#joined.add({});
      case "worker-lost":
        return this.#lost.add({});
      case "block-moved":
        return this.#moves.add({});
      case "crew-opened":
        this.#summary = null;
        return;
      case "epoch-lost":
        return this.#epochsLost.add({});
      case "crew-progress":
        return this.#look(event.crew);
      default:
        return;
    }
  };

  text(): string {
    return metricsText([
      this.#trees,
      this.#jobs,
      this.#alarms,
      this.#redone,
      this.#workers,
      this.#joined,
      this.#lost,
      this.#held,
      this.#free,
      this.#moves,
      this.#epochsLost,
      this.#bytes,
      this.#waited,
    ]);
  }

  #countRounds(event: PartyEvent): void {
    if (event.type === "job" && event.job !== this.#job) [this.#job, this.#rounds] = [event.job, noRounds];
    const before = this.#rounds.redone;
    this.#rounds = withRoundEvent(this.#rounds, event);
    if (this.#rounds.redone > before) this.#redone.add({}, this.#rounds.redone - before);
  }

  /** Each attempt counts from zero. */
  #look(crew: CrewSummary): void {
    const before = this.#summary;
    this.#bytes.add({ direction: "to" }, crew.bytesToEngine - (before?.bytesToEngine ?? 0));
    this.#bytes.add({ direction: "from" }, crew.bytesFromEngine - (before?.bytesFromEngine ?? 0));
    this.#summary = crew;
  }

  #gauge(name: string, help: string, of: (crew: CrewSummary) => number): Gauge {
    return new Gauge(name, `${help} 0 between attempts.`, () => (this.#summary === null ? 0 : of(this.#summary)));
  }
}

function heldBlocks({ blocks, freeBlocks }: CrewSummary): number {
  return blocks - freeBlocks;
}

/** Without labels: it is there from the beginning. */
function counter(name: string, help: string): Counter {
  const made = new Counter(name, help);
  made.add({}, 0);
  return made;
}
