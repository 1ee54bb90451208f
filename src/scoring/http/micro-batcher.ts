/**
 * Requests that arrive within a short window share a batch: one question to each passive party for all of them. While
 * the maximum number of batches is under way requests queue up, so batches grow with the load. A request that does not
 * fit the queue is refused at once.
 */
import { TandemError } from "../../base/error.ts";
import type { Scorer } from "../scorer.ts";
import type { ScoringRows } from "../scoring-question.ts";
import { predictionWanted, type Wanted, wantedKey } from "../wanted.ts";

export interface BatchOptions {
  /** How long the first request of a batch waits for others. */
  readonly windowMs: number;
  /** Ids of one batch; a request with more is a batch of its own. */
  readonly batchIdsMax: number;
  /** Ids that may wait. */
  readonly queueIdsMax: number;
  readonly batchesMax: number;
  readonly timeoutMs: number;
  readonly unknownAsMissing: boolean;
  readonly onBatch: (requestCount: number, idCount: number) => void;
}

/** One request's share of a batch. */
export interface RequestScores {
  readonly predictions: Float64Array;
  /** Rows of this request whose id is unknown to a party, and the names of those parties. */
  readonly unknown: ReadonlyMap<number, readonly string[]>;
}

interface Waiting {
  readonly rows: ScoringRows;
  readonly wanted: Wanted;
  readonly deadline: number;
  /** Whether it was rejected by its timer, which may fire up to a millisecond before the deadline. */
  isOver: boolean;
  resolve(scores: RequestScores): void;
  reject(error: unknown): void;
}

export class MicroBatcher {
  readonly #scorer: Pick<Scorer, "score">;
  readonly #options: BatchOptions;
  #queue: Waiting[] = [];
  #queuedIds = 0;
  #underWay = 0;
  #window: NodeJS.Timeout | null = null;
  #windowOver = false;

  constructor(scorer: Pick<Scorer, "score">, options: BatchOptions) {
    this.#scorer = scorer;
    this.#options = options;
  }

  get queuedIds(): number {
    return this.#queuedIds;
  }

  /** @throws TandemError OVERLOADED if too many wait, TIMEOUT if there is no answer in time, or what scoring throws */
  score(rows: ScoringRows, wanted: Wanted = predictionWanted): Promise<RequestScores> {
    const { queueIdsMax, timeoutMs } = this.#options;
    const idCount = rows.ids.length;
    if (this.#queuedIds > 0 && this.#queuedIds + idCount > queueIdsMax) {
      return Promise.reject(
        new TandemError("OVERLOADED", `${this.#queuedIds} ids are waiting to be scored. Try again later`),
      );
    }
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting.isOver = true;
        reject(new TandemError("TIMEOUT", `the request was not answered within ${timeoutMs} ms`));
      }, timeoutMs);
      const settled =
        <T>(settle: (value: T) => void) =>
        (value: T): void => {
          clearTimeout(timer);
          settle(value);
        };
      const waiting: Waiting = {
        rows,
        wanted,
        deadline: performance.now() + timeoutMs,
        isOver: false,
        resolve: settled(resolve),
        reject: settled(reject),
      };
      this.#queue.push(waiting);
      this.#queuedIds += idCount;
      this.#window ??= setTimeout(() => this.#endWindow(), this.#options.windowMs);
      this.#launch();
    });
  }

  #endWindow(): void {
    this.#windowOver = true;
    this.#launch();
  }

  /** Starts batches while requests are queued and fewer than the maximum are under way. */
  #launch(): void {
    const { batchIdsMax, batchesMax } = this.#options;
    while (
      this.#underWay < batchesMax &&
      this.#queue.length > 0 &&
      (this.#windowOver || this.#queuedIds >= batchIdsMax)
    ) {
      void this.#score(this.#nextBatch());
    }
    if (this.#queue.length > 0) return;
    if (this.#window !== null) clearTimeout(this.#window);
    this.#window = null;
    this.#windowOver = false;
  }

  /** The first in the queue, and others that ask for the same outputs, as far as they fit. */
  #nextBatch(): Waiting[] {
    const [key, batchIdsMax] = [wantedKey(this.#queue[0].wanted), this.#options.batchIdsMax];
    const [batch, rest]: [Waiting[], Waiting[]] = [[], []];
    let idCount = 0;
    let isFull = false;
    for (const waiting of this.#queue) {
      const { length } = waiting.rows.ids;
      const isAlike = wantedKey(waiting.wanted) === key;
      // Requests for the same outputs keep their order.
      if (isAlike && batch.length > 0 && idCount + length > batchIdsMax) isFull = true;
      if (isAlike && !isFull) idCount += length;
      (isAlike && !isFull ? batch : rest).push(waiting);
    }
    this.#queue = rest;
    this.#queuedIds -= idCount;
    const now = performance.now();
    return batch.filter(({ deadline, isOver }) => !isOver && deadline > now); // the timer rejects the others
  }

  async #score(batch: readonly Waiting[]): Promise<void> {
    if (batch.length === 0) return;
    const { onBatch, unknownAsMissing } = this.#options;
    const rows = together(batch.map((waiting) => waiting.rows));
    this.#underWay++;
    try {
      onBatch(batch.length, rows.ids.length);
      const timeoutMs = Math.max(...batch.map(({ deadline }) => deadline)) - performance.now();
      const { predictions, unknown } = await this.#scorer.score(rows, {
        unknownAsMissing,
        timeoutMs,
        wanted: batch[0].wanted,
      });
      let first = 0;
      for (const waiting of batch) {
        const end = first + waiting.rows.ids.length;
        const perRow = predictions.length / rows.ids.length;
        waiting.resolve({
          predictions: predictions.slice(first * perRow, end * perRow),
          unknown: partOf(unknown, first, end),
        });
        first = end;
      }
    } catch (error) {
      for (const waiting of batch) waiting.reject(error);
    } finally {
      this.#underWay--;
      this.#launch();
    }
  }
}

function together(parts: readonly ScoringRows[]): ScoringRows {
  if (parts.length === 1) return parts[0];
  const ids = parts.flatMap((part) => part.ids);
  const columns = parts[0].columns.map((_, feature) => {
    const column = new Float32Array(ids.length);
    let first = 0;
    for (const part of parts) {
      column.set(part.columns[feature], first);
      first += part.ids.length;
    }
    return column;
  });
  return { ids, columns };
}

function partOf(
  unknown: ReadonlyMap<number, readonly string[]>,
  first: number,
  end: number,
): Map<number, readonly string[]> {
  const part = new Map<number, readonly string[]>();
  if (unknown.size > 0)
    for (let row = first; row < end; row++) if (unknown.has(row)) part.set(row - first, unknown.get(row) ?? []);
  return part;
}
