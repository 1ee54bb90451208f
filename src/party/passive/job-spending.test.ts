/** What a job uses of the budget is counted by what was sent, whatever the partner has agreed on. */
import { expect, test } from "vitest";
import { MemoryDisk } from "../../../test/support/memory-disk.ts";
import { testJob } from "../../../test/world/simulated.ts";
import type { Observation } from "../../messages/observation.ts";
import { nothingSpent } from "../../privacy/spending.ts";
import { agreedParameters } from "../../protocol/job-parameters.ts";
import { DailyBudgets } from "../daily-budget.ts";
import { PartnerBudgets } from "../partner-budget.ts";
import { QuestionCounts } from "../question-counts.ts";
import { JobSpending } from "./job-spending.ts";

const people = 100;

function newBudgets(): PartnerBudgets {
  const storage = new MemoryDisk().storage();
  const files = { party: "shop", directory: "jobs", storage, ownFiles: <T>(work: () => Promise<T>) => work() };
  const limits = { ids: 1e6, alignments: 1e6, jobs: 1e6, attempts: 1e6, histogram_requests: 1e6 };
  const daily = new DailyBudgets({ ...files, limits, rowCount: () => 0, now: () => 0, emit: () => {} });
  return new PartnerBudgets({ ...files, limits: {}, daily, questions: new QuestionCounts({ ...files, limit: 1 }) });
}

function sums(node: number, areShares: boolean): Observation {
  const lists = { counts: [9, 9, 9, 9], suppressed: new Uint8Array(4), groups: [] };
  return {
    kind: "sums",
    learner: "active",
    tree: 0,
    node,
    firstCandidate: 0,
    ...lists,
    isDrawn: false,
    areShares,
    rows: null,
    bytes: 0,
  };
}

const best = (node: number): Observation => ({ kind: "best candidate", learner: "active", tree: 0, node, bytes: 0 });

/** A job of one tree of depth 2, in which this was sent. */
async function run(budgets: PartnerBudgets, hidden_sums: boolean, sent: readonly Observation[]): Promise<void> {
  const job = testJob({ training: { num_round: 1, max_depth: 2 }, defences: { hidden_sums } });
  const spending = new JobSpending(budgets, "bank", hidden_sums ? "aa" : "bb", agreedParameters(job), people, people);
  await spending.admit();
  await spending.roundBegins(0);
  for (const observation of sent) spending.see(observation);
  await spending.treeEnds(1);
  await spending.finished();
}

test("shares of sums cost nothing, and each best candidate counts as opened", async () => {
  const budgets = newBudgets();
  await run(budgets, true, [sums(0, true), sums(1, true), best(0), best(1), best(2)]);
  expect(budgets.spent("bank")).toEqual({ ...nothingSpent, openedPerPerson: (3 * 2) / people });
});

test("jobs of both kinds count each as what it is", async () => {
  const budgets = newBudgets();
  await run(budgets, true, [sums(0, true), best(0)]);
  await run(budgets, false, [sums(0, false), sums(1, false)]);
  const { sumsPerPerson, openedPerPerson } = budgets.spent("bank");
  expect(sumsPerPerson).toBeCloseTo((2 * 3) / people); // g, h and a count of each candidate
  expect(openedPerPerson).toBeCloseTo(2 / people);
});

test("sums of all candidates are exact sums, also in a job that has agreed to hide them", async () => {
  const budgets = newBudgets();
  await run(budgets, true, [sums(0, false), sums(1, true), best(0), best(1)]);
  const { sumsPerPerson, openedPerPerson } = budgets.spent("bank");
  expect(sumsPerPerson).toBeCloseTo(3 / people);
  expect(openedPerPerson).toBeCloseTo((2 * 2) / people);
});
