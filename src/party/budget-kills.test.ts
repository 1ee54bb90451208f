/**
 * A process that is killed at any durable write of the budget, the daily budget or the record of gradients, before the
 * write or after it, never lowers a count and never forgets what was received.
 */
import { expect, test } from "vitest";
import { MemoryDisk } from "../../test/support/memory-disk.ts";
import { Killed, mortal } from "../../test/support/mortal-disk.ts";
import type { Storage } from "../base/files/storage.ts";
import { nothingSpent, type Spending } from "../privacy/spending.ts";
import { type JournalEntry, PlaintextJournal } from "../protocol/active/plaintext-journal.ts";
import { ReceivedGradients } from "../protocol/passive/received-gradients.ts";
import { addPlaintexts, addSignedGradients, readPlaintexts, readSignedGradients } from "../store/round-evidence.ts";
import { DailyBudgets } from "./daily-budget.ts";
import { PartnerBudgets } from "./partner-budget.ts";
import { QuestionCounts } from "./question-counts.ts";

const perTree: Spending = { ...nothingSpent, sumsPerPerson: 0.01, openedPerPerson: 0.02, outcomesPerPerson: 3 };
const took: Spending = { ...nothingSpent, sumsPerPerson: 0.004, openedPerPerson: 0.006, outcomesPerPerson: 1 };
const demand = { jobId: "aa", trees: 3, perTree };

function budgetsOn(storage: Storage): PartnerBudgets {
  const files = { party: "shop", directory: "jobs", storage, ownFiles: <T>(work: () => Promise<T>) => work() };
  const amounts = { ids: 1e6, alignments: 1e6, jobs: 1e6, attempts: 1e6, histogram_requests: 1e6 };
  const daily = new DailyBudgets({ ...files, limits: amounts, rowCount: () => 0, now: () => 0, emit: () => {} });
  return new PartnerBudgets({ ...files, limits: {}, daily, questions: new QuestionCounts({ ...files, limit: 1 }) });
}

/** What the partner has received. */
interface Received {
  sums: number;
  opened: number;
  outcomes: number;
  scored: number;
  ids: number;
}

/** A job of three trees, with scores, from the tree that the party has stored on. */
async function run(budgets: PartnerBudgets, received: Received, progress: { trees: number }): Promise<void> {
  while (progress.trees < 3) {
    const tree = progress.trees;
    await budgets.treesBegin("bank", demand, tree + 1);
    await budgets.daily.charge("bank", { histogram_requests: 1 }, "node");
    // A tree that is redone gets the same answers: they are received once.
    received.sums = Math.max(received.sums, (tree + 1) * took.sumsPerPerson);
    received.opened = Math.max(received.opened, (tree + 1) * took.openedPerPerson);
    received.outcomes = Math.max(received.outcomes, (tree + 1) * took.outcomesPerPerson);
    progress.trees++;
    await budgets.treeEnds("bank", demand, tree + 1, took);
    await budgets.score("bank", 30);
    received.scored += 30;
    received.ids += 30;
  }
  await budgets.jobFinished("bank", "aa");
}

test("budgets: no kill at a write lowers a count", async () => {
  let kills = 0;
  for (let first = 0; ; first++) {
    let isOver = true;
    for (const when of ["before", "after"] as const) {
      for (const second of [0, 1, 2]) {
        const files = new MemoryDisk();
        const received: Received = { sums: 0, opened: 0, outcomes: 0, scored: 0, ids: 0 };
        const progress = { trees: 0 };
        const limits = [first, second, Infinity];
        for (const limit of limits) {
          const budgets = budgetsOn(mortal(files, (write) => (write === limit ? when : null)));
          const isKilled = await run(budgets, received, progress).then(
            () => false,
            (error: unknown) => {
              if (!(error instanceof Killed)) throw error;
              return true;
            },
          );
          if (isKilled) [kills, isOver] = [kills + 1, isOver && limit !== first];
          const after = budgetsOn(files.storage());
          await after.admit("bank", demand); // reads the file
          const spent = after.spent("bank");
          expect(spent.sumsPerPerson).toBeGreaterThanOrEqual(received.sums - 1e-9);
          expect(spent.openedPerPerson).toBeGreaterThanOrEqual(received.opened - 1e-9);
          expect(spent.outcomesPerPerson).toBeGreaterThanOrEqual(received.outcomes);
          expect(spent.scoredPeople).toBeGreaterThanOrEqual(received.scored);
          await after.daily.charge("bank", { ids: 0 }, "request");
          expect(after.daily.spent("bank")?.used.ids ?? 0).toBeGreaterThanOrEqual(received.ids);
        }
      }
    }
    if (isOver) break;
  }
  expect(kills).toBeGreaterThan(40);
});

test("the record of gradients: what was accepted once is never accepted otherwise", async () => {
  const digestOf = (tree: number, other = 0): Uint8Array => new Uint8Array(32).fill(10 * tree + other + 1);
  for (const when of ["before", "after"] as const) {
    for (let limit = 0; limit < 4; limit++) {
      const files = new MemoryDisk();
      const received = (storage: Storage): ReceivedGradients =>
        new ReceivedGradients(
          {
            readAnswers: async () => null,
            addAnswers: async () => {},
            forget: async () => {},
            readGradients: async () =>
              (await readSignedGradients("jobs", "run", storage)).filter(({ refused }) => !refused),
            addGradients: (gradients) => addSignedGradients("jobs", "run", gradients, false, storage),
            refuseGradients: (one) => addSignedGradients("jobs", "run", [one], true, storage),
          },
          () => {},
        );
      const signature = new Uint8Array(64);
      const accepted = new Set<number>();
      const dying = received(mortal(files, (write) => (write === limit ? when : null)));
      for (let tree = 0; tree < 3; tree++)
        await dying.accept({ tree, node: null, digest: digestOf(tree), signature }).then(
          () => accepted.add(tree),
          () => {},
        );
      const after = received(files.storage());
      for (const tree of accepted) {
        const other = after.accept({ tree, node: null, digest: digestOf(tree, 1), signature });
        await expect(other).rejects.toThrow(/not those that were received before/);
        expect(await after.accept({ tree, node: null, digest: digestOf(tree), signature })).toBe(tree);
      }
      const kept = await readSignedGradients("jobs", "run", files.storage());
      expect(kept.filter(({ refused }) => refused)).toHaveLength(accepted.size);
    }
  }
});

test("the journal of plaintexts: no number is used for two, and other plaintexts are refused", async () => {
  for (const when of ["before", "after"] as const) {
    for (let limit = 0; limit < 5; limit++) {
      const files = new MemoryDisk();
      const journal = async (storage: Storage): Promise<PlaintextJournal> =>
        new PlaintextJournal(await readPlaintexts("jobs", "run", storage), (entries: readonly JournalEntry[]) =>
          addPlaintexts("jobs", "run", entries, storage),
        );
      const sent = new Map<number, string>();
      const dying = await journal(mortal(files, (write) => (write === limit ? when : null)));
      for (let tree = 0; tree < 4; tree++) {
        const plaintexts = `0${tree % 3}`; // the last has those of the first
        const { serial, stored } = dying.enter({ tree, node: null }, plaintexts, tree);
        await stored.then(
          () => sent.set(serial, plaintexts),
          () => {},
        );
      }
      const after = await journal(files.storage());
      for (const [serial, plaintexts] of sent) {
        expect(after.enter({ tree: serial, node: null }, plaintexts, serial).serial).toBe(serial);
        expect(() => after.enter({ tree: serial, node: null }, "ff", serial)).toThrow(/differ from those/);
        expect(after.enter({ tree: 99, node: serial }, plaintexts).serial).toBe(serial);
      }
    }
  }
});
