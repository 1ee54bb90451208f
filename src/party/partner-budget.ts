/**
 * A partner's budget at this passive party over all jobs, and what it has used. It is stored before a request is
 * answered, so neither a crash nor an abandoned job resets it.
 *
 * A tree counts with the most that it can take when it begins, and with what it took when it ends. A tree that is
 * redone ends only with the requests of its earlier attempts, which get the same answers: so it counts once, with all.
 * A partner that disconnects before the end of a tree has used the most that the tree can take.
 *
 * Several jobs of a partner may be under way: each holds what it may still take until it ends, so that no two of them
 * are admitted for the same rest. After a crash nothing is held, and every job is admitted anew.
 *
 * Scores are frequent and stored some in advance, so that most wait for no disk; a crash counts a few too many.
 */
import { TandemError } from "../base/error.ts";
import { Exclusive } from "../base/scheduling/exclusive.ts";
import type { Storage } from "../base/files/storage.ts";
import { addSpending, nothingSpent, type Spending } from "../privacy/spending.ts";
import { readBudget, type StoredBudget, writeBudget } from "../store/budget-file.ts";
import type { PolicyConfig } from "./config/policy-config.ts";
import type { DailyBudgets } from "./daily-budget.ts";
import type { QuestionCounts } from "./question-counts.ts";

/** Over all jobs. */
export type BudgetLimits = Partial<Omit<PolicyConfig["budget"], "daily">>;

/** Sums of fractions are rounded, depending on their order. */
const roundingMax = 1 + 1e-9;
/** Number of scores stored in advance, and with how many left more are stored. */
const scoresAhead = 100;
const scoresAheadMin = 20;

/** What each limit counts. Opened best candidates are sums without noise too: one limit holds for both together. */
const limited: Readonly<Record<keyof BudgetLimits, (spending: Spending) => number>> = {
  sums_per_person: ({ sumsPerPerson, openedPerPerson }) => sumsPerPerson + openedPerPerson,
  noisy_sums_per_person: ({ noisySumsPerPerson }) => noisySumsPerPerson,
  outcomes_per_person: ({ outcomesPerPerson }) => outcomesPerPerson,
  scored_people: ({ scoredPeople }) => scoredPeople,
  vettings: ({ vettings }) => vettings,
};

/** Upper bound of what a job uses per tree. */
export interface JobDemand {
  readonly jobId: string;
  /** Trees that are grown with this party in it. */
  readonly trees: number;
  readonly perTree: Spending;
  /** Instances that are scored by a start model before the first tree; left out: none. */
  readonly startScores?: number;
}

export interface BudgetOptions {
  readonly party: string;
  /** The party's output directory. */
  readonly directory: string;
  readonly limits: BudgetLimits;
  /** Daily limits. */
  readonly daily: DailyBudgets;
  /** Limits per person and model. */
  readonly questions: QuestionCounts;
  readonly storage: Storage;
  /** Runs work on this party's own files: the details of an error go to its own log only. */
  readonly ownFiles: <T>(work: () => Promise<T>) => Promise<T>;
}

export class PartnerBudgets {
  readonly #options: BudgetOptions;
  readonly #turns = new Exclusive();
  readonly #budgets = new Map<string, StoredBudget>();
  /** Per partner the scores stored in advance and not used yet. */
  readonly #ahead = new Map<string, number>();
  /** Per partner: the jobs under way. */
  readonly #held = new Map<string, Set<JobDemand>>();

  constructor(options: BudgetOptions) {
    this.#options = options;
  }

  get limits(): BudgetLimits {
    return this.#options.limits;
  }

  get daily(): DailyBudgets {
    return this.#options.daily;
  }

  get questions(): QuestionCounts {
    return this.#options.questions;
  }

  /** The same, read if no job of the partner was admitted yet. */
  async readSpent(active: string): Promise<Spending> {
    await this.#of(active);
    return this.spent(active);
  }

  /** What a partner has used; the stored amount may be higher. */
  spent(active: string): Spending {
    const { spent = nothingSpent } = this.#budgets.get(active) ?? {};
    return { ...spent, scoredPeople: spent.scoredPeople - (this.#ahead.get(active) ?? 0) };
  }

  /**
   * Holds what a job may still take. @returns gives it back
   * @throws TandemError POLICY naming what is spent, asked and allowed, if it does not fit beside the other jobs
   */
  async admit(active: string, demand: JobDemand): Promise<() => void> {
    return this.#turns.run(async () => {
      const { open } = await this.#of(active);
      const held = this.#held.get(active) ?? new Set<JobDemand>();
      let spent = this.spent(active); // without the scores that are stored ahead
      for (const other of held) if (other.jobId !== demand.jobId) spent = addSpending(spent, restOf(other, open));
      this.#check(spent, restOf(demand, open), "job");
      this.#held.set(active, held.add(demand));
      return () => void held.delete(demand);
    });
  }

  /**
   * Trees of a job begin, for the first time or again. @param begun how many by then, those before them included
   * @throws TandemError POLICY
   */
  async treesBegin(active: string, { jobId, perTree }: JobDemand, begun: number): Promise<void> {
    await this.#turns.run(async () => {
      const { spent, open } = await this.#of(active);
      const before = open[jobId] ?? { begun: 0, ended: 0 };
      if (begun <= before.begun) return;
      const more = scaled(perTree, begun - before.begun);
      this.#check(this.spent(active), more, "tree");
      const charged = addSpending(spent, more);
      await this.#store({ active, spent: charged, open: { ...open, [jobId]: { ...before, begun } } });
    });
  }

  /**
   * A tree of a job ends, for the first time or again. It is stored with whatever is stored next: until then the tree
   * counts with the most that it can take. @param ended how many by then, this one among them
   */
  async treeEnds(active: string, { jobId, perTree }: JobDemand, ended: number, took: Spending): Promise<void> {
    await this.#turns.run(async () => {
      const { spent, open } = await this.#of(active);
      const before = open[jobId];
      if (before === undefined || ended <= before.ended || ended > before.begun) return;
      const settled = subtractSpending(addSpending(spent, took), perTree);
      this.#budgets.set(active, { active, spent: settled, open: { ...open, [jobId]: { ...before, ended } } });
    });
  }

  /** The job succeeded and is never redone. */
  async jobFinished(active: string, jobId: string): Promise<void> {
    await this.#turns.run(async () => {
      const { spent, open } = await this.#of(active);
      if (open[jobId] === undefined) return;
      const { [jobId]: _done, ...others } = open;
      await this.#store({ active, spent, open: others });
    });
  }

  /** Scores are requested. @throws TandemError POLICY if they exceed the budget */
  async score(active: string, instanceCount: number): Promise<void> {
    if (instanceCount === 0) return;
    await this.daily.charge(active, { ids: instanceCount }, "request");
    if (this.#takeAhead(active, instanceCount)) return;
    await this.#turns.run(async () => {
      const budget = await this.#of(active);
      if (this.#takeAhead(active, instanceCount)) return; // stored meanwhile
      this.#check(this.spent(active), { ...nothingSpent, scoredPeople: instanceCount }, "request");
      const left = this.#ahead.get(active) ?? 0;
      this.#ahead.set(active, 0); // no other request takes them while they are counted anew
      try {
        const scoredPeople = budget.spent.scoredPeople - left + instanceCount + scoresAhead;
        await this.#store({ ...budget, spent: { ...budget.spent, scoredPeople } });
        this.#ahead.set(active, scoresAhead);
      } catch (error) {
        this.#ahead.set(active, left);
        throw error;
      }
    });
  }

  /** Takes scores that are stored already, without waiting. @returns whether there were enough */
  #takeAhead(active: string, count: number): boolean {
    const ahead = this.#ahead.get(active) ?? 0;
    if (count > ahead) return false;
    this.#check(this.spent(active), { ...nothingSpent, scoredPeople: count }, "request");
    this.#ahead.set(active, ahead - count);
    if (ahead >= scoresAheadMin && ahead - count < scoresAheadMin) this.#storeAhead(active);
    return true;
  }

  /** Stores more scores in advance, in the background. If that fails, a request that needs them tries again. */
  #storeAhead(active: string): void {
    const stored = this.#turns.run(async () => {
      const budget = await this.#of(active);
      const more = scoresAhead - (this.#ahead.get(active) ?? 0);
      const spent = { ...budget.spent, scoredPeople: budget.spent.scoredPeople + more };
      await this.#store({ ...budget, spent });
      this.#ahead.set(active, (this.#ahead.get(active) ?? 0) + more);
    });
    stored.catch(() => {});
  }

  #check(spent: Spending, asked: Spending, what: string): void {
    const broken = (Object.keys(limited) as (keyof BudgetLimits)[]).flatMap((name) => {
      const limit = this.limits[name];
      const [used, more] = [spent, asked].map(limited[name]);
      // Of what is not asked for there may be more than the limit: scores are stored ahead.
      if (limit === undefined || more === 0 || used + more <= limit * roundingMax) return [];
      return [`${name}: ${amount(used)} used, ${amount(more)} requested, ${limit} allowed`];
    });
    if (broken.length === 0) return;
    throw new TandemError(
      "POLICY",
      `the budget of ${this.#options.party} for this partner does not allow this ${what}: ${broken.join("; ")}`,
    );
  }

  async #of(active: string): Promise<StoredBudget> {
    const kept = this.#budgets.get(active);
    if (kept !== undefined) return kept;
    const { directory, storage, ownFiles } = this.#options;
    const stored = await ownFiles(() => readBudget(directory, active, storage));
    const budget = stored ?? { active, spent: { ...nothingSpent }, open: {} };
    this.#budgets.set(active, budget);
    return budget;
  }

  async #store(budget: StoredBudget): Promise<void> {
    const { directory, storage, ownFiles } = this.#options;
    await ownFiles(() => writeBudget(directory, budget, storage));
    this.#budgets.set(budget.active, budget);
  }
}

/** The most that a job may still take. */
function restOf({ jobId, trees, perTree, startScores = 0 }: JobDemand, open: StoredBudget["open"]): Spending {
  const left = Math.max(0, trees - (open[jobId]?.begun ?? 0));
  const scores = { ...nothingSpent, scoredPeople: open[jobId] === undefined ? startScores : 0 };
  return addSpending(scaled(perTree, left), scores);
}

function scaled(spending: Spending, times: number): Spending {
  return {
    sumsPerPerson: spending.sumsPerPerson * times,
    openedPerPerson: spending.openedPerPerson * times,
    noisySumsPerPerson: spending.noisySumsPerPerson * times,
    outcomesPerPerson: spending.outcomesPerPerson * times,
    scoredPeople: spending.scoredPeople * times,
    vettings: spending.vettings * times,
  };
}

/** Never below zero: sums of fractions are rounded. */
function subtractSpending(a: Spending, b: Spending): Spending {
  const sum = addSpending(a, scaled(b, -1));
  return {
    sumsPerPerson: Math.max(0, sum.sumsPerPerson),
    openedPerPerson: Math.max(0, sum.openedPerPerson),
    noisySumsPerPerson: Math.max(0, sum.noisySumsPerPerson),
    outcomesPerPerson: Math.max(0, sum.outcomesPerPerson),
    scoredPeople: Math.max(0, sum.scoredPeople),
    vettings: Math.max(0, sum.vettings),
  };
}

function amount(value: number): string {
  return String(Number(value.toPrecision(3)));
}
