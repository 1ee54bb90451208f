/**
 * The record of a job for people to read, in its folder:
 *
 *   events.jsonl   the public event stream of this party with the time of each event
 *   own.jsonl      what only this party may see: its own view of every tree, the curves of its scores
 *
 * Thresholds and feature names are in own.jsonl and never in an event: others may see events, but not that file. Both
 * files are readable by their owner only. If they cannot be written, the job continues.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { JsonLinesFile } from "../base/files/json-lines.ts";
import type { PartyEvent, StampedEvent } from "./events.ts";
import type { OwnLine } from "./own-lines.ts";

export const eventsFileName = "events.jsonl";
export const ownFileName = "own.jsonl";

/** Several hundred thousand events; a job of days stays below. */
export const recordBytesMax = 64 << 20;

/** Receives the record of a job. */
export interface JobNotes {
  event(event: PartyEvent): void;
  own(line: OwnLine): void;
  close(): void;
}

/** Keeps no record. */
export const noNotes: JobNotes = { event() {}, own() {}, close() {} };

export class JobRecord implements JobNotes {
  readonly #now: () => number;
  #events: JsonLinesFile | null;
  #own: JsonLinesFile | null;

  constructor(folder: string, now: () => number = Date.now) {
    this.#now = now;
    this.#events = opened(folder, eventsFileName);
    this.#own = opened(folder, ownFileName);
  }

  event(event: PartyEvent): void {
    const stamped: StampedEvent = { ...event, at: this.#now() };
    if (!appended(this.#events, stamped)) this.#events = null;
  }

  own(line: OwnLine): void {
    if (!appended(this.#own, line)) this.#own = null;
  }

  close(): void {
    for (const file of [this.#events, this.#own]) file?.close();
    this.#events = null;
    this.#own = null;
  }
}

function opened(folder: string, name: string): JsonLinesFile | null {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return new JsonLinesFile(join(folder, name), recordBytesMax);
  } catch {
    return null;
  }
}

function appended(file: JsonLinesFile | null, value: unknown): boolean {
  try {
    file?.append(value);
    return true;
  } catch {
    return false;
  }
}
