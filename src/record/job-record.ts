/**
 * What a job leaves behind for people to look at, in its folder:
 *
 *   events.jsonl   the public event stream of this party with the time of each event
 *   own.jsonl      what only this party may look at: its own view of every tree, the curves of its scores
 *
 * Thresholds and feature names are in own.jsonl and never in an event: others may see events, but not that file.
 * Both files are readable by their owner only. If they cannot be written, the job goes on.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { JsonLinesFile } from "../base/files/json-lines.ts";
import type { ScoreCurves } from "../gbdt/metric/score-curves.ts";
import type { Tree } from "../gbdt/tree/tree.ts";
import type { ActiveRule } from "../protocol/active/federated-tree.ts";
import type { OwnSplit } from "../protocol/passive/role.ts";
import type { ContributionSummary } from "./contribution-facts.ts";
import type { PartyEvent } from "./events.ts";
import type { Exposure } from "./exposure.ts";

export const eventsFileName = "events.jsonl";
export const ownFileName = "own.jsonl";

/** An event and when it happened, in milliseconds since the epoch. */
export type StampedEvent = PartyEvent & { readonly at: number };

export type OwnView =
  | { readonly kind: "data"; readonly sha256: string }
  | { readonly kind: "tree"; readonly tree: number; readonly nodes: Tree<ActiveRule> }
  /** Of booster dart, when the job has ended: what the trees of its model weigh. */
  | { readonly kind: "tree-weights"; readonly weights: readonly number[] }
  | { readonly kind: "own-splits"; readonly tree: number; readonly splits: readonly OwnSplit[] }
  | { readonly kind: "scores"; readonly rows: "test"; readonly curves: ScoreCurves }
  | { readonly kind: "exposure"; readonly exposures: readonly Exposure[] }
  | { readonly kind: "contributions"; readonly summary: ContributionSummary };

/** Some hundred thousand events; a job of days stays below. */
const sizeBytesMax = 64 << 20;

/** Takes what a job leaves behind. */
export interface JobNotes {
  event(event: PartyEvent): void;
  own(view: OwnView): void;
  close(): void;
}

/** For a party that nobody looks at. */
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

  own(view: OwnView): void {
    if (!appended(this.#own, view)) this.#own = null;
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
    return new JsonLinesFile(join(folder, name), sizeBytesMax);
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
