/**
 * Prometheus metrics of a passive party, from its public events alone: numbers, no names and no ids. Plain counters are
 * declared with their events; what depends on several events is here.
 */
import { Counter, Gauge, LabelledGauge, metricsText } from "../base/metrics.ts";
import type { CrewSummary } from "../crew/crew-summary.ts";
import { type EventOf, events, type EventType, type PartyEvent, eventUses } from "./events.ts";
import { noRounds, type RoundsSoFar, withRoundEvent } from "./redone-rounds.ts";

export class PartyMetrics {
  readonly #counters = new Map(eventCounters());
  readonly #redone = new Counter("tandem_rounds_redone_total", "Rounds that were repeated after a loss.");
  readonly #bytes = new Counter("tandem_crew_engine_bytes_total", "Sealed bytes to and from the engine.");
  readonly #workers = this.#gauge(
    "tandem_crew_workers",
    "Workers in the status table.",
    ({ workerCount }) => workerCount,
  );
  readonly #held = this.#gauge(
    "tandem_crew_blocks_held",
    "Blocks that workers hold.",
    ({ blocks, freeBlocks }) => blocks - freeBlocks,
  );
  readonly #free = this.#gauge("tandem_crew_blocks_free", "Blocks without a holder.", ({ freeBlocks }) => freeBlocks);
  readonly #waited = this.#gauge(
    "tandem_crew_waited_seconds",
    "How long the oldest pending request has waited for workers.",
    ({ awaited }) => awaited?.seconds ?? 0,
  );
  readonly #running = new Gauge("tandem_jobs_running", "Jobs and alignments that run.", () => this.#occupancy.running);
  readonly #waiting = new Gauge("tandem_jobs_waiting", "Jobs that wait for their turn.", () => this.#occupancy.waiting);
  readonly #reserved = new Gauge(
    "tandem_jobs_memory_bytes",
    "Estimated memory of the jobs that run.",
    () => this.#occupancy.bytes,
  );
  readonly #certificates = new LabelledGauge(
    "tandem_certificate_expires_timestamp_seconds",
    "When a certificate ends; partner 0 is this party, others count as in the config once they have connected.",
    () => [...this.#ends].map(([place, until]) => [labelsOf(place), until / 1000]),
  );
  /** By partner and pin. */
  readonly #ends = new Map<string, number>();
  readonly #drift = new LabelledGauge(
    "tandem_drift_features",
    "Own features of the people asked about, of all models, by how far they have moved since the training.",
    () =>
      (["stable", "moderate", "large"] as const).map((level) => {
        const counts = [...this.#drifts.values()].map((event) => event[level]);
        return [{ level }, counts.reduce((sum, count) => sum + count, 0)] as const;
      }),
  );
  /** By job, the latest. */
  readonly #drifts = new Map<string, EventOf<"drift">>();
  #occupancy: Pick<EventOf<"occupancy">, "running" | "waiting" | "bytes"> = { running: 0, waiting: 0, bytes: 0 };
  /** Of the jobs under way, by name. */
  readonly #rounds = new Map<string, RoundsSoFar>();
  /** Of the current attempt; null: there is none. */
  #summary: CrewSummary | null = null;

  constructor() {
    this.#redone.add({}, 0);
    for (const direction of ["to", "from"]) this.#bytes.add({ direction }, 0);
  }

  readonly see = (event: PartyEvent): void => {
    const label = eventUses(event.type)?.counter?.label;
    this.#counters.get(event.type)?.add(label === undefined ? {} : { [label.name]: label.of(event) });
    this.#countRounds(event);
    if (event.type === "occupancy") this.#occupancy = event;
    if (event.type === "certificate") this.#ends.set(`${event.partner}/${event.pin}`, event.until);
    if (event.type === "drift") this.#drifts.set(event.job, event);
    if (event.type === "crew-progress") this.#look(event.crew);
    else if (event.type === "crew-opened" || event.type === "job-ended") this.#summary = null;
  };

  text(): string {
    return metricsText([
      ...this.#counters.values(),
      this.#redone,
      this.#running,
      this.#waiting,
      this.#reserved,
      this.#certificates,
      this.#drift,
      this.#workers,
      this.#held,
      this.#free,
      this.#bytes,
      this.#waited,
    ]);
  }

  #countRounds(event: PartyEvent): void {
    const job = event.job ?? "";
    const before = this.#rounds.get(job) ?? noRounds;
    const after = withRoundEvent(before, event);
    if (after.redone > before.redone) this.#redone.add({}, after.redone - before.redone);
    // A job that failed may be continued.
    if (event.type === "job-ended" && event.failure === null) this.#rounds.delete(job);
    else if (after !== before) this.#rounds.set(job, after);
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

function labelsOf(place: string) {
  const [partner, pin] = place.split("/");
  return { partner, pin };
}

/** One per counted event, exported from the start with 0. */
function eventCounters(): [EventType, Counter][] {
  return (Object.keys(events) as EventType[]).flatMap((type) => {
    const counted = eventUses(type)?.counter;
    if (counted === undefined) return [];
    const { name, help, label } = counted;
    const counter = new Counter(name, help);
    if (label === undefined) counter.add({}, 0);
    for (const value of label?.values ?? []) counter.add({ [label?.name ?? ""]: value }, 0);
    return [[type, counter]];
  });
}
