/** Records of jobs with hidden sums: what was opened is bounded, and no page, report or audit calls it exact sums. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { auditText } from "../src/cli/terminal/audit-text.ts";
import { openedBitsMax } from "../src/privacy/spending.ts";
import { readRecord } from "../src/record/stored-record.ts";
import { auditJob } from "../src/simulate/audit/audit-job.ts";
import { simulate } from "../src/simulate/simulate.ts";
import { jobReport } from "../web/report/reports.js";
import { scratchDirectory, writeLoanTable } from "./support/command.ts";
import { superviseInProcess } from "./world/in-process-parties.ts";

const root = scratchDirectory();
const data = join(root, "loans.csv");
writeLoanTable(data, 160);
const clock = { left: () => 1_000, progress() {} };
const trees = 3;
const depth = 2;

async function auditOf(job: string, scheme: string, hidden_sums: boolean) {
  const directory = join(root, scheme); // with what was received over all jobs
  const training = { num_round: trees, max_depth: depth, max_bin: 8 };
  const options = {
    data,
    id: "id",
    label: "defaulted",
    active: ["income", "debt"],
    passives: [["visits", "basket"]],
    testFraction: 0.25,
    missing: [],
    job: { training, scheme, privacy: { hidden_sums } },
    check: false,
    onEvent: () => {},
    keep: { directory, job },
  };
  await simulate(options, superviseInProcess);
  const folder = join(directory, "passive-1", job);
  const { result } = await auditJob(folder, clock);
  const report = jobReport(await readRecord(folder), new Date(0)).replaceAll(/<[^>]+>|\s+/g, " ");
  return { result, text: auditText(result), report: report.replaceAll(/ +/g, " ") };
}

const thresholds = /half of all bins|all bins can be inferred|reveal (about half|nearly all) of/;

test.each(["paillier", "lattice"])("%s: a job with hidden sums, and then one with exact sums", async (scheme) => {
  const hidden = await auditOf("hidden", scheme, true);
  const [party] = hidden.result.parties;
  expect(party).toMatchObject({ reach: null, triesSums: false, wrong: 0 });
  expect(hidden.result.isEstimate).toBe(false);
  expect(party.certain.sums).toBe(party.certain.outcomes);
  // g and h of every node that may be split.
  const nodes = Math.round((party.sumsPerPerson * party.people) / 2);
  expect(nodes).toBe(trees * (2 ** depth - 1));
  expect(party.openedBits).toBeCloseTo(openedBitsMax(party.sumsPerPerson));
  for (const { sumsBound, left } of party.columns)
    expect(sumsBound).toBeCloseTo(Math.min(openedBitsMax(party.sumsPerPerson) / party.columns.length, left.outcomes));
  expect(hidden.text).toMatch(
    /0\.150 sums per person of best candidates only\n.*they reveal at most 4\.9 bits per person/,
  );
  expect(hidden.text).toContain("bits per person of all columns together");
  expect(hidden.text).toContain("+ sums was not tried: this party does not know what was opened.");
  expect(hidden.text).not.toMatch(thresholds);
  const opened = "0.150 of these per person were opened, and reveal at most 4.9 bits per person, all columns together.";
  expect(hidden.report).toContain("A lower bound: this much is proven.");
  expect(hidden.report).toContain(`Sums of best candidates are not in these figures: ${opened}`);
  expect(hidden.report).toContain("No exact sums of all candidates were sent.");
  expect(hidden.report).not.toMatch(thresholds);

  const exact = await auditOf("exact", scheme, false);
  expect(exact.result.parties[0]).toMatchObject({ openedBits: null, reach: "all" });
  expect(exact.text).toMatch(thresholds);
  expect(exact.text).not.toContain("best candidates");
  // Of both jobs, each as what it was.
  expect(exact.report).toMatch(/exact sums of all jobs so far, 0\.1[05]0 per person, reveal nearly all of it/);
  expect(exact.report).toContain("Exact sums alone reveal nearly all of your binned table.");
  expect(exact.report).toContain(`That is not so for sums of best candidates only: ${opened}`);
  expect(exact.report).not.toContain("are not in these figures: 0.150");
});
