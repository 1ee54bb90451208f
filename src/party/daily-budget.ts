/**
 * A partner's daily budget at this passive party: PSI and scoring answer "do you hold this id?", and without a
 * limit would do so for every possible id. It is stored before a request is answered. Frequent requests are stored some
 * in advance, so that counting is cheap; a crash counts a few too many.
 *
 * Days are in UTC and only move forward: setting the clock back does not reset a budget.
 */
import { TandemError } from "../base/error.ts";
import { Exclusive } from "../base/scheduling/exclusive.ts";
import type { Storage } from "../base/files/storage.ts";
import type { Emit } from "../record/events.ts";
import { dailyTexts } from "../record/spending-facts.ts";
import { type DailyAmounts, readDay, type StoredDay, writeDay } from "../store/daily-file.ts";

/** A limit that is left out has its default. */
export type DailyLimits = { readonly [name in DailyName]?: number | undefined };
export type DailyName = keyof DailyAmounts;
export type Asked = Partial<DailyAmounts>;

/** Far above what honest partners ask for: an attempt is a PSI run or a job, a request is one node's histogram. */
const usualLimits = { alignments: 100, jobs: 1000, attempts: 20_000, histogram_requests: 5_000_000 };
/**
 * Default limit of ids as a multiple of this party's rows: an honest partner needs no more. The minimum is for tables
 * of a few rows, which a partner of 10,000 ids may align with.
 */
const timesOwnRows = 20;
const idsMin = 10_000;
/** Maximum stored in advance, absolute and as a fraction of the limit. */
const aheadMax = 1000;
const aheadPart = 100;
/** Fraction of a limit from which the owner is warned. */
const lowPart = 0.8;

const names = Object.keys(dailyTexts) as DailyName[];

export interface DailyOptions {
  readonly party: string;
  /** The party's output directory. */
  readonly directory: string;
  readonly limits: DailyLimits;
  readonly storage: Storage;
  /** Runs work on this party's own files: the details of an error go to its own log only. */
  readonly ownFiles: <T>(work: () => Promise<T>) => Promise<T>;
  /** Number of rows of this party. */
  readonly rowCount: () => number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly emit: Emit;
}

/** A partner's use on one day, and the limits. */
export interface DaySpent {
  readonly day: string;
  readonly used: Readonly<DailyAmounts>;
  readonly limits: Readonly<DailyAmounts>;
}

interface OpenDay {
  readonly day: string;
  readonly used: DailyAmounts;
  /** The stored amounts: at least what is used. */
  stored: DailyAmounts;
  readonly alerted: Set<string>;
  lastJob: string;
  /** Jobs that were counted since the process started: several may be under way. */
  readonly jobs: Set<string>;
}

export class DailyBudgets {
  readonly #options: DailyOptions;
  readonly #turns = new Exclusive();
  readonly #days = new Map<string, OpenDay>();

  constructor(options: DailyOptions) {
    this.#options = options;
  }

  /** Null for a partner without requests since this process started. */
  spent(active: string): DaySpent | null {
    const open = this.#days.get(active);
    return open === undefined ? null : { day: open.day, used: { ...open.used }, limits: this.#limits };
  }

  /** Checks without counting. @throws TandemError POLICY */
  async check(active: string, asked: Asked, what: string): Promise<void> {
    await this.#turns.run(async () => this.#refuse(await this.#of(active), asked, what));
  }

  /**
   * Counts a request; settles when it may be answered. @param what kind of request, for messages
   * @throws TandemError POLICY naming what was used, requested and allowed, and when the budget resets
   */
  async charge(active: string, asked: Asked, what: string): Promise<void> {
    if (this.#chargeAhead(active, asked)) return;
    await this.#turns.run(async () => {
      const open = await this.#of(active);
      this.#refuse(open, asked, what);
      await this.#count(active, open, asked);
    });
  }

  /** A job begins. If it restarts before it was stored, it counts once. */
  async chargeJob(active: string, job: string): Promise<void> {
    await this.#turns.run(async () => {
      const open = await this.#of(active);
      if (open.lastJob === job || open.jobs.has(job)) return;
      this.#refuse(open, { jobs: 1 }, "job");
      open.lastJob = job;
      await this.#count(active, open, { jobs: 1 });
      open.jobs.add(job);
    });
  }

  /** Counts what is already stored, without a write. */
  #chargeAhead(active: string, asked: Asked): boolean {
    const open = this.#days.get(active);
    if (open === undefined || this.#isOver(open)) return false;
    const limits = this.#limits;
    const fits = names.every((name) => {
      const used = open.used[name] + (asked[name] ?? 0);
      return (
        used <= Math.min(open.stored[name], limits[name]) && (open.alerted.has(name) || !isLow(used, limits[name]))
      );
    });
    if (fits) add(open.used, asked);
    return fits;
  }

  async #count(active: string, open: OpenDay, asked: Asked): Promise<void> {
    const limits = this.#limits;
    add(open.used, asked);
    const low = names.filter(
      (name) => (asked[name] ?? 0) > 0 && !open.alerted.has(name) && isLow(open.used[name], limits[name]),
    );
    for (const name of low) open.alerted.add(name);
    const stored = { ...open.stored };
    for (const name of names) {
      if (open.used[name] > stored[name])
        stored[name] = Math.max(open.used[name], Math.min(open.used[name] + ahead(name, limits), limits[name]));
    }
    const { directory, storage, ownFiles, party, emit } = this.#options;
    const { day, alerted, lastJob } = open;
    await ownFiles(() => writeDay(directory, { active, day, used: stored, told: [...alerted], lastJob }, storage));
    open.stored = stored; // only now: others may count up to it without a write
    for (const name of low) {
      const used = `${open.used[name]} of ${limits[name]} ${dailyTexts[name]} on ${day} (UTC)`;
      emit({ type: "alarm", party, peer: active, words: `budget.daily.${name} is nearly used up: ${used}` });
    }
  }

  #refuse(open: OpenDay, asked: Asked, what: string): void {
    const limits = this.#limits;
    const broken = names.flatMap((name) => {
      const wanted = asked[name] ?? 0;
      if (wanted === 0 || open.used[name] + wanted <= limits[name]) return [];
      return [`budget.daily.${name}: ${open.used[name]} used, ${wanted} requested, ${limits[name]} allowed`];
    });
    if (broken.length === 0) return;
    const reset = dayOf(Date.parse(open.day) + dayMs);
    throw new TandemError(
      "POLICY",
      `the budget of ${this.#options.party} for this partner does not allow this ${what} today: ` +
        `${broken.join("; ")}; it resets at ${reset} 00:00 UTC`,
    );
  }

  get #limits(): DailyAmounts {
    const { limits, rowCount } = this.#options;
    const usual: DailyAmounts = { ...usualLimits, ids: Math.max(idsMin, timesOwnRows * rowCount()) };
    for (const name of names) usual[name] = limits[name] ?? usual[name];
    return usual;
  }

  #isOver({ day }: OpenDay): boolean {
    return dayOf(this.#options.now()) > day;
  }

  /** The partner's current day. */
  async #of(active: string): Promise<OpenDay> {
    const { directory, storage, ownFiles, now } = this.#options;
    const kept = this.#days.get(active);
    if (kept !== undefined && !this.#isOver(kept)) return kept;
    const file = kept === undefined ? await ownFiles(() => readDay(directory, active, storage)) : null;
    const today = dayOf(now());
    const open = file !== null && file.day >= today ? opened(file) : freshDay(kept, today);
    this.#days.set(active, open);
    return open;
  }
}

function opened({ day, used, told, lastJob }: StoredDay): OpenDay {
  return { day, used: { ...used }, stored: { ...used }, alerted: new Set(told), lastJob, jobs: new Set() };
}

/** Nothing used, and nothing stored in advance. */
function freshDay(before: OpenDay | undefined, day: string): OpenDay {
  const nothing = { ids: 0, alignments: 0, jobs: 0, attempts: 0, histogram_requests: 0 };
  return {
    day,
    used: { ...nothing },
    stored: { ...nothing },
    alerted: new Set(),
    lastJob: before?.lastJob ?? "",
    jobs: before?.jobs ?? new Set(),
  };
}

function add(used: DailyAmounts, asked: Asked): void {
  for (const name of names) used[name] += asked[name] ?? 0;
}

function isLow(used: number, limit: number): boolean {
  return used >= lowPart * limit;
}

/** Other amounts are stored one by one. */
function ahead(name: DailyName, limits: DailyAmounts): number {
  if (name !== "ids" && name !== "histogram_requests") return 0;
  return Math.min(aheadMax, Math.floor(limits[name] / aheadPart));
}

const dayMs = 86_400_000;

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
