/** What a partner uses is counted once, stored durably, and limited. */
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { expectError } from "../../test/support/expect-error.ts";
import { MemoryDisk } from "../../test/support/memory-disk.ts";
import type { Storage } from "../base/files/storage.ts";
import { nothingSpent, type Spending } from "../privacy/spending.ts";
import { partnerPath } from "../store/budget-file.ts";
import { DailyBudgets } from "./daily-budget.ts";
import { type BudgetLimits, PartnerBudgets } from "./partner-budget.ts";
import { QuestionCounts } from "./question-counts.ts";

class Disk {
  readonly files = new MemoryDisk();
  writes = 0;
  /** Writes settle with this. */
  until: Promise<void> = Promise.resolve();

  budgets(limits: BudgetLimits = {}): PartnerBudgets {
    const storage: Storage = {
      ...this.files.storage(),
      write: async (path, contents) => {
        this.writes++;
        await this.until;
        this.files.put(path, contents);
      },
    };
    const files = { party: "shop", directory: "jobs", storage, ownFiles: <T>(work: () => Promise<T>) => work() };
    const amounts = { ids: 1e6, alignments: 1e6, jobs: 1e6, attempts: 1e6, histogram_requests: 1e6 };
    const daily = new DailyBudgets({ ...files, limits: amounts, rowCount: () => 0, now: () => 0, emit: () => {} });
    const questions = new QuestionCounts({ ...files, limit: 1 });
    return new PartnerBudgets({ ...files, limits, daily, questions });
  }
}

const perTree: Spending = { ...nothingSpent, sumsPerPerson: 0.01, outcomesPerPerson: 3 };
const took: Spending = { ...nothingSpent, sumsPerPerson: 0.005, outcomesPerPerson: 1 };
const demand = { jobId: "aa", trees: 4, perTree };

test("a tree counts with the most that it can take, and with what it took once it has ended", async () => {
  const budgets = new Disk().budgets();
  await budgets.treesBegin("bank", demand, 1);
  expect(budgets.spent("bank")).toEqual(perTree);
  await budgets.treeEnds("bank", demand, 1, took);
  expect(budgets.spent("bank").sumsPerPerson).toBeCloseTo(took.sumsPerPerson);
  expect(budgets.spent("bank").outcomesPerPerson).toBe(1);
});

test("a round that is redone counts once, also after a crash; a job that is given up stays counted", async () => {
  const disk = new Disk();
  const before = disk.budgets();
  await before.treesBegin("bank", demand, 1);
  await before.treeEnds("bank", demand, 1, took);
  await before.treesBegin("bank", demand, 2); // and here the process dies
  const after = disk.budgets();
  await after.admit("bank", demand);
  await after.treesBegin("bank", demand, 2);
  expect(after.spent("bank").sumsPerPerson).toBeCloseTo(0.015);
  await after.treeEnds("bank", demand, 2, took);
  await after.treeEnds("bank", demand, 2, took);
  expect(after.spent("bank").sumsPerPerson).toBeCloseTo(0.01);
  await after.treesBegin("bank", { ...demand, jobId: "bb" }, 1); // begun, and never ended
  expect(disk.budgets().spent("bank")).toEqual(nothingSpent); // not asked for yet
  const last = disk.budgets();
  await last.admit("bank", demand);
  expect(last.spent("bank").sumsPerPerson).toBeCloseTo(0.02);
});

test("a tree that ended is stored with what comes next; in a crash before that it counts with the most", async () => {
  const disk = new Disk();
  const before = disk.budgets();
  await before.treesBegin("bank", demand, 1);
  await before.treeEnds("bank", demand, 1, took);
  expect(disk.writes).toBe(1);
  const after = disk.budgets();
  await after.admit("bank", demand);
  expect(after.spent("bank").sumsPerPerson).toBeCloseTo(perTree.sumsPerPerson);
  await before.jobFinished("bank", demand.jobId);
  const last = disk.budgets();
  await last.admit("bank", demand);
  expect(last.spent("bank").sumsPerPerson).toBeCloseTo(took.sumsPerPerson);
});

test("a job that does not fit what is left is refused; other partners have budgets of their own", async () => {
  const disk = new Disk();
  const budgets = disk.budgets({ sums_per_person: 0.06 });
  await budgets.admit("bank", demand);
  await budgets.treesBegin("bank", demand, 4);
  await expectError(
    () => budgets.admit("bank", { ...demand, jobId: "bb" }),
    "POLICY",
    /budget of shop .* sums_per_person: 0.04 used, 0.04 requested, 0.06 allowed/,
  );
  await budgets.admit("bank", demand); // its own trees are in what was had
  await budgets.admit("telecom", demand);
});

test("scores are counted, bounded, and stored ahead", async () => {
  const disk = new Disk();
  const budgets = disk.budgets({ scored_people: 2500 });
  for (let request = 0; request < 100; request++) await budgets.score("bank", 20);
  expect(budgets.spent("bank").scoredPeople).toBe(2000);
  expect(disk.writes).toBeLessThanOrEqual(24); // of all days, and of this one
  await expectError(
    () => budgets.score("bank", 501),
    "POLICY",
    /scored_people: 2000 used, 501 requested, 2500 allowed/,
  );
  await budgets.score("bank", 500);
  const after = disk.budgets({ scored_people: 10_000 });
  await after.score("bank", 1);
  const { scoredPeople } = after.spent("bank");
  expect(scoredPeople).toBeGreaterThanOrEqual(2501);
  expect(scoredPeople).toBeLessThanOrEqual(2601);
});

test("single scores wait for no disk: more are stored before those in advance are used up", async () => {
  const disk = new Disk();
  const budgets = disk.budgets({ scored_people: 125 });
  await budgets.score("bank", 1);
  let release = (): void => {};
  disk.until = new Promise((resolve) => (release = resolve));
  for (let request = 0; request < 100; request++) await budgets.score("bank", 1); // the disk is slow all the time
  let isOver = false;
  const next = budgets.score("bank", 1).then(() => (isOver = true));
  await new Promise((resolve) => setImmediate(resolve));
  expect([isOver, budgets.spent("bank").scoredPeople]).toEqual([false, 101]); // only this one waits
  release();
  await next;
  for (let request = 102; request < 125; request++) await budgets.score("bank", 1);
  await expectError(() => budgets.score("bank", 1), "POLICY", /125 used, 1 requested, 125 allowed/);
  const after = disk.budgets();
  expect((await after.readSpent("bank")).scoredPeople).toBeGreaterThanOrEqual(125);
  expect((await after.readSpent("bank")).scoredPeople).toBeLessThanOrEqual(225);
});

test("scores that could not be stored are not counted, and later ones are", async () => {
  const disk = new Disk();
  const budgets = disk.budgets();
  await budgets.score("bank", 30); // and 100 more
  disk.until = Promise.reject(new Error("disk full"));
  disk.until.catch(() => {});
  await budgets.score("bank", 90); // of those; storing more fails in the background
  await expect(budgets.score("bank", 11)).rejects.toThrow(/disk full/);
  expect(budgets.spent("bank").scoredPeople).toBe(120);
  await budgets.score("bank", 10);
  disk.until = Promise.resolve();
  await budgets.score("bank", 40);
  expect(budgets.spent("bank").scoredPeople).toBe(170);
});

test("the scores of a start model must fit the budget before the job begins, and count once", async () => {
  const budgets = new Disk().budgets({ scored_people: 30 });
  await expectError(
    () => budgets.admit("bank", { ...demand, startScores: 31 }),
    "POLICY",
    /does not allow this job: scored_people: 0 used, 31 requested, 30 allowed/,
  );
  await budgets.admit("bank", { ...demand, startScores: 20 });
  await budgets.score("bank", 20);
  await budgets.treesBegin("bank", demand, 1);
  await budgets.admit("bank", { ...demand, startScores: 20 }); // it resumes
});

test("opened best candidates are counted apart from exact sums, and use the same limit", async () => {
  const disk = new Disk();
  const limits = { sums_per_person: 0.06 };
  const budgets = disk.budgets(limits);
  const hidden = {
    ...demand,
    jobId: "cc",
    trees: 2,
    perTree: { ...nothingSpent, openedPerPerson: 0.01, outcomesPerPerson: 3 },
  };
  await budgets.treesBegin("bank", hidden, 2);
  await budgets.treeEnds("bank", hidden, 1, { ...nothingSpent, openedPerPerson: 0.004 });
  await budgets.treesBegin("bank", demand, 3);
  await budgets.treeEnds("bank", demand, 1, took);
  const spent = budgets.spent("bank");
  expect(spent.openedPerPerson).toBeCloseTo(0.014);
  expect(spent.sumsPerPerson).toBeCloseTo(0.025);
  await budgets.treesBegin("bank", demand, 4);
  const after = disk.budgets(limits);
  const stored = await after.readSpent("bank");
  expect([stored.openedPerPerson, stored.sumsPerPerson].map((sum) => sum.toFixed(3))).toEqual(["0.014", "0.035"]);
  await expectError(
    () => after.admit("bank", { ...hidden, jobId: "dd" }),
    "POLICY",
    /sums_per_person: 0.049 used, 0.02 requested, 0.06 allowed/,
  );
});

test("a file of an earlier version has no opened candidates", async () => {
  const disk = new Disk();
  const spent = { sumsPerPerson: 0.3, noisySumsPerPerson: 0, outcomesPerPerson: 2, scoredPeople: 7, vettings: 1 };
  const contents = JSON.stringify({ active: "bank", spent, open: {} });
  const sha256 = createHash("sha256").update(contents).digest("hex");
  const text = `{"format":"tandem-partner-budget/1","sha256":"${sha256}","budget":${contents}}\n`;
  disk.files.put(partnerPath("jobs", "bank", "json"), text);
  const budgets = disk.budgets();
  expect(await budgets.readSpent("bank")).toEqual({ ...nothingSpent, ...spent });
  await budgets.treesBegin("bank", { ...demand, perTree: { ...nothingSpent, openedPerPerson: 0.1 } }, 1);
  expect(await disk.budgets().readSpent("bank")).toEqual({ ...nothingSpent, ...spent, openedPerPerson: 0.1 });
});

test("a modified file is rejected", async () => {
  const disk = new Disk();
  await disk.budgets().treesBegin("bank", demand, 1);
  disk.files.edit((text) => text.replace('"sumsPerPerson":0.01', '"sumsPerPerson":0'));
  await expectError(() => disk.budgets().admit("bank", demand), "CHECKPOINT", /checksum/);
});

test("two jobs of a partner under way are not admitted for the same rest", async () => {
  const budgets = new Disk().budgets({ sums_per_person: 0.06 });
  const release = await budgets.admit("bank", demand); // 0.04 of it
  const second = { ...demand, jobId: "bb" };
  await expectError(() => budgets.admit("bank", second), "POLICY", /sums_per_person: 0.04 used, 0.04 requested/);
  await budgets.admit("rival", second); // has a budget of its own
  await budgets.treesBegin("bank", demand, 2);
  await expectError(() => budgets.admit("bank", second), "POLICY", /sums_per_person: 0.04 used/);
  await budgets.treeEnds("bank", demand, 1, took);
  await budgets.treeEnds("bank", demand, 2, took);
  await expectError(() => budgets.admit("bank", second), "POLICY", /sums_per_person: 0.03 used/);
  // A newer attempt at the first job does not compete with the older one, which is released later.
  const again = await budgets.admit("bank", { ...demand });
  release();
  await expectError(() => budgets.admit("bank", second), "POLICY");
  again();
  await budgets.admit("bank", second);
});

test("whatever was admitted, no tree begins beyond the limit", async () => {
  const disk = new Disk();
  await disk.budgets({ sums_per_person: 0.06 }).treesBegin("bank", demand, 4);
  const after = disk.budgets({ sums_per_person: 0.06 });
  const second = { ...demand, jobId: "bb" };
  await after.treesBegin("bank", second, 2);
  await expectError(() => after.treesBegin("bank", second, 3), "POLICY", /does not allow this tree: sums_per_person/);
});
