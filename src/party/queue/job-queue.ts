/**
 * Which jobs of a passive party may run, and in which order the others begin. It knows no network and no disk: a holder
 * is whatever stands for a connection.
 *
 * Partners alternate: the next job is the first one of the partner whose turn was longest ago. A job that does not fit
 * into the memory bound is not overtaken, so that large jobs begin too. Where several partners are pinned, one of them
 * cannot have all places.
 *
 * After a lost connection a place is kept for a while: in the queue, and for a job that has stored trees since the last
 * loss also among those that run. So a partner that reconnects again and again cannot keep the others waiting.
 */
import { TandemError } from "../../base/error.ts";
import { deferred } from "../../base/scheduling/deferred.ts";

/** How long a place is kept for a lost connection. */
export const keepMs = 60_000;
/** A job whose partner has called nothing for this long ends while others wait. */
export const idleMs = 30 * 60_000;
/** Waiting jobs of one partner. */
export const waitingPerPartnerMax = 4;

export interface QueueOptions {
  /** For messages. */
  readonly party: string;
  readonly jobsMax: number;
  /** Memory of all running jobs together. */
  readonly bytesMax: number;
  /** Number of pinned active parties. */
  readonly partners: number;
  /** Milliseconds. */
  readonly now: () => number;
  /** Calls `ring` once. @returns a function that cancels it */
  readonly alarm: (ms: number, ring: () => void) => () => void;
  /** Whether this party is working on a call of a running job. */
  readonly isWorking?: (job: QueuedJob) => boolean;
  /** Ends a running job whose partner is idle while others wait. */
  readonly onIdle?: (job: QueuedJob) => void;
  /** Something has changed. */
  readonly onChange?: () => void;
}

/** A job that waits or runs. */
export interface QueuedJob {
  readonly partner: string;
  readonly job: string;
  /** When it came, in milliseconds since the epoch. */
  readonly since: number;
  readonly isRunning: boolean;
  /** Its estimated memory. */
  readonly bytes: number;
  /** The connection that it belongs to; null: it was lost. */
  readonly holder: object | null;
}

export interface Entrant {
  readonly partner: string;
  readonly job: string;
  readonly bytes: number;
  readonly holder: object;
}

export interface Occupancy {
  readonly running: number;
  readonly waiting: number;
  /** Estimated, of the running jobs. */
  readonly bytes: number;
}

interface Entry extends QueuedJob {
  isRunning: boolean;
  bytes: number;
  holder: object | null;
  /** Trees that were stored when its connection was lost last. */
  treesAtLoss: number;
  touchedAt: number;
  cancel: () => void;
}

export class JobQueue {
  readonly #options: QueueOptions;
  /** In order of arrival. */
  readonly #entries = new Set<Entry>();
  /** When a partner had its last turn. */
  readonly #turns = new Map<string, number>();
  #turn = 0;
  #changed = deferred();
  #isWatching = false;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  /**
   * A job comes, or comes back: then it has its place still, for the new holder.
   * @throws TandemError POLICY for a job that never fits, PARTY_BUSY if too many of the partner's jobs wait
   */
  enter({ partner, job, bytes, holder }: Entrant): QueuedJob {
    this.#refuseLarge(bytes);
    const known = this.#find(partner, job);
    if (known !== undefined) {
      known.cancel();
      known.holder = holder;
      known.touchedAt = this.#options.now();
      if (!known.isRunning) known.bytes = bytes;
      this.#admit();
      return known;
    }
    const waiting = this.#waiting().filter((entry) => entry.partner === partner).length;
    if (waiting >= waitingPerPartnerMax)
      throw new TandemError(
        "PARTY_BUSY",
        `${this.#options.party} has ${waiting} jobs of this party waiting, and takes no more; try again later`,
      );
    const since = this.#options.now();
    const entry: Entry = {
      partner,
      job,
      since,
      isRunning: false,
      bytes,
      holder,
      treesAtLoss: -2,
      touchedAt: since,
      cancel: () => {},
    };
    this.#entries.add(entry);
    this.#admit();
    return entry;
  }

  /** The same without waiting. @throws TandemError PARTY_BUSY if it would have to wait */
  take(entrant: Entrant): QueuedJob {
    const isNew = this.#find(entrant.partner, entrant.job) === undefined;
    const entry = this.enter(entrant);
    if (entry.isRunning) return entry;
    if (isNew) this.over(entry);
    throw new TandemError("PARTY_BUSY", `${this.#options.party} serves another job at the moment; try again later`);
  }

  /** What the job needs is known now. @throws TandemError POLICY, PARTY_BUSY if that does not fit beside the others */
  resize(job: QueuedJob, bytes: number): void {
    const entry = this.#own(job);
    if (entry === null || bytes <= entry.bytes) return;
    this.#refuseLarge(bytes);
    const { party, bytesMax } = this.#options;
    if (this.occupancy.bytes - entry.bytes + bytes > bytesMax)
      throw new TandemError("PARTY_BUSY", `${party} has no memory for this job beside the others; try again later`);
    entry.bytes = bytes;
  }

  /** The partner has called. */
  touch(job: QueuedJob): void {
    const entry = this.#own(job);
    if (entry !== null) entry.touchedAt = this.#options.now();
  }

  /**
   * The connection of a job was lost. Nothing happens if it has another one by now.
   * @param trees number of its trees that are stored
   */
  left(job: QueuedJob, holder: object, trees = -1): void {
    const entry = this.#own(job);
    if (entry === null || entry.holder !== holder) return;
    entry.holder = null;
    const isKept = !entry.isRunning || trees > entry.treesAtLoss || this.#waiting().length === 0;
    if (!isKept) return this.over(entry);
    entry.treesAtLoss = Math.max(entry.treesAtLoss, trees);
    entry.cancel();
    entry.cancel = this.#options.alarm(keepMs, () => this.over(entry));
    this.#admit();
  }

  /** A job has ended, or was refused. */
  over(job: QueuedJob): void {
    const entry = this.#own(job);
    if (entry === null) return;
    entry.cancel();
    this.#entries.delete(entry);
    this.#admit();
  }

  /** Its place among those that wait, 1 for the next; 0: it runs. Null: it has none any more. */
  placeOf(job: QueuedJob): number | null {
    const entry = this.#own(job);
    if (entry === null) return null;
    return entry.isRunning ? 0 : this.#order().indexOf(entry) + 1;
  }

  /** Those that run, then those that wait, in their order. */
  get jobs(): readonly QueuedJob[] {
    return [...[...this.#entries].filter(({ isRunning }) => isRunning), ...this.#order()];
  }

  get occupancy(): Occupancy {
    const running = [...this.#entries].filter(({ isRunning }) => isRunning);
    return {
      running: running.length,
      waiting: this.#entries.size - running.length,
      bytes: running.reduce((sum, { bytes }) => sum + bytes, 0),
    };
  }

  /** Resolves with the next change. */
  get changed(): Promise<void> {
    return this.#changed.promise;
  }

  #refuseLarge(bytes: number): void {
    const { party, bytesMax } = this.#options;
    if (bytes <= bytesMax) return;
    throw new TandemError(
      "POLICY",
      `the policy of ${party} does not allow this job: max_jobs_megabytes: about ${megabytes(bytes)} needed, ` +
        `${Math.floor(bytesMax / megabyte)} allowed`,
    );
  }

  #find(partner: string, job: string): Entry | undefined {
    return [...this.#entries].find((entry) => entry.partner === partner && entry.job === job);
  }

  #own(job: QueuedJob): Entry | null {
    const entry = job as Entry;
    return this.#entries.has(entry) ? entry : null;
  }

  #waiting(): Entry[] {
    return [...this.#entries].filter(({ isRunning }) => !isRunning);
  }

  /** The order in which waiting jobs have their turns. */
  #order(): Entry[] {
    const left = this.#waiting();
    const turns = new Map(this.#turns);
    const order: Entry[] = [];
    for (let turn = this.#turn + 1; left.length > 0; turn++) {
      // Of equal turns the first to come: `left` is in that order.
      const next = left.reduce((best, entry) => (turnOf(turns, entry) < turnOf(turns, best) ? entry : best));
      left.splice(left.indexOf(next), 1);
      order.push(next);
      turns.set(next.partner, turn);
    }
    return order;
  }

  #admit(): void {
    for (;;) {
      const next = this.#order().find((entry) => entry.holder !== null && !this.#hasEnough(entry));
      if (next === undefined) break;
      if (!this.#fits(next)) {
        const lost = [...this.#entries].find(
          ({ isRunning, holder, partner }) => isRunning && holder === null && partner === next.partner,
        );
        if (lost === undefined) break;
        // The partner has begun something else: nothing is kept for its own lost job.
        lost.cancel();
        this.#entries.delete(lost);
        continue;
      }
      next.isRunning = true;
      next.touchedAt = this.#options.now();
      this.#turns.set(next.partner, ++this.#turn);
    }
    this.#watch();
    const { resolve } = this.#changed;
    this.#changed = deferred();
    resolve();
    this.#options.onChange?.();
  }

  #fits({ bytes }: Entry): boolean {
    const { jobsMax, bytesMax } = this.#options;
    const occupied = this.occupancy;
    return occupied.running < jobsMax && occupied.bytes + bytes <= bytesMax;
  }

  /** Of several partners none has all places; places that are kept for its lost jobs do not count. */
  #hasEnough({ partner }: Entry): boolean {
    const { jobsMax, partners } = this.#options;
    if (partners < 2 || jobsMax < 2) return false;
    const running = [...this.#entries].filter(
      (entry) => entry.isRunning && entry.partner === partner && entry.holder !== null,
    );
    return running.length >= jobsMax - 1;
  }

  /** While jobs wait, looks for running ones whose partner is idle. */
  #watch(): void {
    if (this.#isWatching || this.#waiting().length === 0) return;
    this.#isWatching = true;
    this.#options.alarm(keepMs, () => {
      this.#isWatching = false;
      const { now, isWorking, onIdle } = this.#options;
      if (this.#waiting().length === 0) return;
      for (const entry of this.#entries) {
        if (!entry.isRunning || entry.holder === null) continue;
        if (isWorking?.(entry) === true) entry.touchedAt = now();
        else if (now() - entry.touchedAt >= idleMs) onIdle?.(entry);
      }
      this.#watch();
    });
  }
}

function turnOf(turns: ReadonlyMap<string, number>, { partner }: Entry): number {
  return turns.get(partner) ?? 0;
}

const megabyte = 1 << 20;

function megabytes(bytes: number): number {
  return Math.ceil(bytes / megabyte);
}
