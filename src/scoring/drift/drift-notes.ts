/**
 * The drift of one model while people are scored: its log line when something has moved or moved back, and the note for
 * the page in the job's own record. A model without reference distributions has none.
 */
import { join } from "node:path";
import { stabilityOf } from "../../base/statistics/stability-index.ts";
import { appendOwn } from "../../record/append-own.ts";
import { type DriftSummary, levelCounts } from "../../record/drift-facts.ts";
import type { Emit } from "../../record/events.ts";
import { readReference, type Reference } from "../../store/reference-file.ts";
import { DriftMeter, type ScoredPeople } from "./drift-meter.ts";

export interface DriftedModel {
  readonly party: string;
  readonly job: string;
  readonly model: string;
  /** The party's folder of jobs. */
  readonly directory: string;
}

const lookMs = 60_000;
/** The record of a job is bounded: without a change it gets a line an hour. */
const noteMs = 3_600_000;

export class DriftNotes {
  readonly #of: DriftedModel;
  readonly #meter: DriftMeter;
  readonly #emit: Emit;
  readonly #now: () => number;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #notedAt = Number.NEGATIVE_INFINITY;
  #levels = "";

  constructor(of: DriftedModel, reference: Reference, emit: Emit, now: () => number = Date.now) {
    this.#of = of;
    this.#meter = new DriftMeter(reference);
    this.#emit = emit;
    this.#now = now;
  }

  /** Null for a model without references. @throws TandemError FILE_FORMAT for a damaged file */
  static async open(of: DriftedModel, emit: Emit): Promise<DriftNotes | null> {
    const reference = await readReference(join(of.directory, of.job));
    return reference === null || reference.model !== of.model ? null : new DriftNotes(of, reference, emit);
  }

  see(people: ScoredPeople): void {
    this.#meter.see(people);
    if (this.#now() - this.#lookedAt >= lookMs) this.#look(noteMs);
  }

  get summary(): DriftSummary | null {
    return this.#meter.summary(this.#now());
  }

  /** Writes the last state. */
  close(): void {
    this.#look(0);
  }

  #look(noteAfterMs: number): void {
    const { summary } = this;
    if (summary === null) return;
    this.#lookedAt = summary.at;
    const levels = summary.items.map(({ index }) => stabilityOf(index)).join();
    const hasMoved = levels !== this.#levels;
    if (!hasMoved && summary.at - this.#notedAt < noteAfterMs) return;
    this.#levels = levels;
    this.#notedAt = summary.at;
    const { party, job, model, directory } = this.#of;
    appendOwn(join(directory, job), { kind: "drift", summary });
    if (!hasMoved) return;
    const largest = Math.max(0, ...summary.items.map(({ index }) => index));
    this.#emit({ type: "drift", party, job, model, people: summary.people, largest, ...levelCounts(summary) });
  }
}
