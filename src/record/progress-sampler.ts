/**
 * Turns the edges of phases, of which there may be hundreds a second, into few snapshots: one every three seconds, one
 * at the end of each tree, and one when the next has begun. An edge after a quiet time is reported almost at once.
 * Consecutive pieces of the same work become one span. Snapshots are rare because drawing them takes CPU time from the
 * job.
 */
import type { Traffic } from "../messages/tally.ts";
import type { Phase, PhaseEdge } from "../protocol/phase.ts";
import type { EventOf } from "./events.ts";
import type { PhaseSpan } from "./events/training-events.ts";

const intervalMs = 3000;
/** One phase ends and the next begins a little later: both belong in one snapshot. */
const settlingMs = 30;
/** Gaps that are too short to be visible. */
const gapMs = 20;

export interface SamplerOptions {
  readonly party: string;
  /** The active party is in phase "decide" when no other phase is open; a passive party never is. */
  readonly decides: boolean;
  readonly bytes: () => Readonly<Record<string, Traffic>>;
  readonly emit: (event: EventOf<"progress">) => void;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

interface OpenSpan {
  readonly edge: PhaseEdge;
  readonly from: number;
}

export class ProgressSampler {
  readonly #options: SamplerOptions;
  readonly #now: () => number;
  readonly #open = new Map<string, OpenSpan>();
  #closed: PhaseSpan[] = [];
  #timer: NodeJS.Timeout | null = null;
  #flushedAt = -Infinity;
  #tree = -1;
  #level = 0;

  constructor(options: SamplerOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  readonly edge = (edge: PhaseEdge): void => {
    const now = this.#now();
    if (edge.tree > this.#tree) [this.#tree, this.#level] = [edge.tree, 0];
    if (edge.phase === "aggregate") this.#level = Math.max(this.#level, edge.level);
    if (edge.began) {
      this.#decide(now, false);
      this.#begin(edge, now);
    } else {
      this.#end(edge.party, edge.phase, now);
      if (this.#open.size === 0) this.#decide(now, true);
    }
    this.#timer ??= setTimeout(() => this.flush(), Math.max(settlingMs, this.#flushedAt + intervalMs - now)).unref();
  };

  /** Closes all open phases of a finished tree. */
  treeEnded(): void {
    const now = this.#now();
    for (const { edge } of this.#open.values()) this.#end(edge.party, edge.phase, now);
    this.flush();
    this.#flushedAt = -Infinity; // report the next edge at once
  }

  flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#flushedAt = this.#now();
    const doing: Record<string, Phase> = {};
    for (const { edge } of this.#open.values()) doing[edge.party] = edge.phase;
    const { party, bytes, emit } = this.#options;
    const spans = merged(this.#closed);
    this.#closed = [];
    emit({ type: "progress", party, tree: this.#tree, level: this.#level, doing, bytes: bytes(), spans });
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #begin(edge: PhaseEdge, now: number): void {
    this.#open.set(keyOf(edge.party, edge.phase), { edge, from: now });
  }

  #end(party: string, phase: Phase, now: number): void {
    const key = keyOf(party, phase);
    const open = this.#open.get(key);
    if (open === undefined) return;
    this.#open.delete(key);
    const { tree } = open.edge;
    this.#closed.push({
      party,
      phase,
      tree,
      level: open.edge.phase === "encrypt" ? 0 : this.#level,
      from: open.from,
      to: now,
    });
  }

  #decide(now: number, began: boolean): void {
    const { party, decides } = this.#options;
    if (!decides) return;
    if (began) this.#begin({ party, phase: "decide", began, tree: this.#tree, level: this.#level }, now);
    else this.#end(party, "decide", now);
  }
}

function keyOf(party: string, phase: Phase): string {
  return `${phase} ${party}`;
}

/** Merges consecutive spans of the same work; empty spans are left out. */
export function merged(spans: readonly PhaseSpan[]): PhaseSpan[] {
  const last = new Map<string, number>();
  const kept: PhaseSpan[] = [];
  for (const span of spans) {
    const key = keyOf(span.party, span.phase);
    const at = last.get(key);
    const before = at === undefined ? undefined : kept[at];
    if (
      at !== undefined &&
      before !== undefined &&
      before.tree === span.tree &&
      before.level === span.level &&
      span.from - before.to <= gapMs
    ) {
      kept[at] = { ...before, to: span.to };
    } else {
      last.set(key, kept.push(span) - 1);
    }
  }
  return kept.filter(({ from, to }) => to > from);
}
