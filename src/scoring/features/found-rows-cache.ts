/**
 * What a source has answered about ids, for a while: bounded in people and in time, least recently used first. Ids
 * without a row are kept as well, so that an answer about them takes no longer than about others.
 */
import type { TextRow } from "../../data/query/row-batches.ts";

export interface CacheBounds {
  readonly seconds: number;
  readonly people: number;
}

interface Kept {
  readonly rows: readonly TextRow[];
  readonly until: number;
}

/** Longer rows are not kept: the bound on people is one on memory, too. */
const charsMax = 10_000;

export class FoundRowsCache {
  readonly #bounds: CacheBounds;
  readonly #now: () => number;
  readonly #kept = new Map<string, Kept>();

  constructor(bounds: CacheBounds, now: () => number = () => performance.now()) {
    this.#bounds = bounds;
    this.#now = now;
  }

  get size(): number {
    return this.#kept.size;
  }

  /** The rows of an id, none if it has none; null if it must be asked for. */
  find(key: string): readonly TextRow[] | null {
    const kept = this.#kept.get(key);
    if (kept === undefined) return null;
    this.#kept.delete(key);
    if (kept.until <= this.#now()) return null;
    this.#kept.set(key, kept);
    return kept.rows;
  }

  keep(key: string, rows: readonly TextRow[]): void {
    const { seconds, people } = this.#bounds;
    if (seconds === 0 || rows.flat().reduce((sum, cell) => sum + (cell?.length ?? 0), 0) > charsMax) return;
    this.#kept.delete(key);
    this.#kept.set(key, { rows, until: this.#now() + seconds * 1000 });
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= people) return;
      this.#kept.delete(oldest);
    }
  }
}
