/** Records of a job that hides members: audits, reports and pages contain no more than was revealed. */
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { auditJob } from "../src/simulate/audit/audit-job.ts";
import { auditSimulation } from "../src/simulate/audit/audit.ts";
import { simulate } from "../src/simulate/simulate.ts";
import type { SimulateOptions } from "../src/simulate/simulate-options.ts";
import { auditText } from "../src/cli/terminal/audit-text.ts";
import { readRecord } from "../src/record/stored-record.ts";
import { jobReport } from "../web/report/reports.js";
import { scratchDirectory, writeLoanTable } from "./support/command.ts";

const root = scratchDirectory();
const data = join(root, "loans.csv");
const options: SimulateOptions = {
  data,
  id: "id",
  label: "defaulted",
  active: ["income", "debt"],
  passives: [["visits", "basket"]],
  testFraction: 0.25,
  missing: [],
  job: { training: { num_round: 4, max_bin: 8 }, scheme: "lattice" },
  check: false,
  onEvent: () => {},
};
const folderOf = (party: string): string => join(root, party, "kept");
const clock = { left: () => 1_000, progress() {} };

async function reportOf(party: string): Promise<string> {
  return jobReport(await readRecord(folderOf(party)), new Date(0)).replaceAll(/<[^>]+>|\s+/g, " ");
}

beforeAll(async () => {
  writeLoanTable(data, 160);
  await simulate({ ...options, keep: { directory: root, job: "kept" } });
});

test("a passive party's audit covers the outcomes of all instances, and says that sums were not tried", async () => {
  const { result } = await auditJob(folderOf("passive-1"), clock);
  const [party] = result.parties;
  expect(party).toMatchObject({ wrong: 0, triesSums: false, trees: 4, membership: { outcomesCover: "all instances" } });
  expect(party.certain.outcomes).toBe(party.certain.scoring);
  expect(party.certain.outcomes).toBeGreaterThan(0);
  expect(party.sumsPerPerson).toBeCloseTo((4 * 4 * 2) / 120); // trees, nodes asked for, g and h
  const text = auditText(result);
  expect(text).toMatch(/outcomes cover every instance[\s\S]*\+ sums was not tried/);
  expect(text).not.toContain("upper estimate");
  const report = await reportOf("passive-1");
  expect(report).toContain("revealed a side of everyone");
  expect(report).toContain("is not in these figures");
  expect(report).not.toContain("which instances are in each node that is split");
  expect(report).toMatch(/Which people are in a node of a tree was hidden from passive parties/);
});

test("the active party's audit says that its instances could not be ranked by their nodes", async () => {
  const { result } = await auditJob(folderOf("active"), clock);
  expect(result.labels).toEqual([{ party: "passive-1", membersAreSent: false, guess: null }]);
  expect(auditText(result)).toContain("members of nodes are not sent to it");
  const report = await reportOf("active");
  expect(report).toContain("Node membership was hidden from");
  expect(report).toContain("on which side of each split everyone is");
  expect(report).not.toMatch(/Paillier|private key|guard bits|batching|rank people by their risk/);
});

test("an audit of a table reports from one training what either scheme would reveal", async () => {
  const audit = { seconds: 2, whatIf: false, onProgress: () => {} };
  const [ofPaillier, ofLattice] = await Promise.all(
    ["paillier", "lattice"].map((scheme) => auditSimulation({ ...options, job: { ...options.job, scheme } }, audit)),
  );
  expect(ofPaillier.schemes?.map(({ scheme, isOfJob }) => [scheme, isOfJob])).toEqual([
    ["paillier", true],
    ["lattice", false],
  ]);
  expect(ofLattice.schemes?.map(({ scheme }) => scheme)).toEqual(["lattice", "paillier"]);
  const [sent, hidden] = ofPaillier.schemes ?? [];
  const [ofJob, other] = ofLattice.schemes ?? [];
  // The same model and the same figures, whichever scheme is configured.
  expect([ofJob.toldBits.outcomes, other.toldBits.outcomes]).toEqual([
    hidden.toldBits.outcomes,
    sent.toldBits.outcomes,
  ]);
  expect(hidden.toldBits.outcomes).toBeGreaterThan(sent.toldBits.outcomes);
  expect(hidden).toMatchObject({ tellsCounts: false, labelsAuc: null, membership: { name: "hidden" } });
  expect(hidden.linked).toBe(hidden.candidates);
  expect(sent.labelsAuc).toBeGreaterThan(0.5);
  const parties = [...ofPaillier.parties, ...ofLattice.parties];
  expect(parties.map(({ wrong }) => wrong)).toEqual([0, 0]);
  expect(ofLattice.parties[0].left.outcomes).toBeCloseTo(hidden.bits - hidden.toldBits.outcomes);
  expect(auditText(ofPaillier)).toMatch(
    /paillier \(this\) +lattice\n +sides of won splits, for +its node +all instances/,
  );
});
