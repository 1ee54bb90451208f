/** The report of an audited job, from its folder. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { columnExposure, labelExposure, recordActive, recordPassive } from "../../test/support/exposed-job.ts";
import { readRecord } from "../../src/record/stored-record.ts";
import { jobReport } from "./reports.js";

const root = mkdtempSync(join(tmpdir(), "tandem-report-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const title = "What others could infer from it (exposure)";

const reportOf = async (job: string, withOwn = true): Promise<string> =>
  jobReport(await readRecord(join(root, job)), new Date(0), { withOwn }).replaceAll(/\s+/g, " ");

test("a passive party's report: a bar and a row per column, the gauge, what lowers it", async () => {
  recordPassive(root, "columns", { exposure: columnExposure });
  const report = await reportOf("columns");
  expect(report).toContain(`<h2>${title}</h2>`);
  expect(report).toContain("The job ran without defences that would lower this (privacy: exact).");
  expect(report).toContain("What bank could compute of your columns");
  expect(report).toContain("AGE: the bin is certain for 225 of 22,500 people from split outcomes");
  expect(report).toContain('<th scope="row">LIMIT_BAL</th>');
  expect(report).toContain("Exact sums per person, all jobs with bank: 0.031");
  expect(report).toContain("your limit 0.040");
  expect(report).toMatch(/people scored.*7,500.*your limit 10,000/);
  expect(report).toContain("0.7809 (+0.0006)");
  expect(report).toContain("0.031 per person, reveal some of it");
  expect(report).not.toMatch(/NaN|Infinity|undefined|\[object/);
});

test("opened best candidates are not in the gauge, and take from its limit", async () => {
  recordPassive(root, "opened", { exposure: null, isGuarded: true, opened: 0.155 });
  const hidden = await reportOf("opened");
  expect(hidden).toContain("No exact sums of all candidates were sent.");
  expect(hidden).toContain("0.155 of these per person were opened, and reveal at most 5.1 bits per person");
  expect(hidden).toContain("Exact sums per person, all jobs with bank: 0; little at 0.02");
  expect(hidden).not.toMatch(/reveal (about half|nearly all) of/);
  recordPassive(root, "both", { exposure: null, opened: 0.005 });
  const both = await reportOf("both");
  expect(both).toContain("Exact sums alone reveal some of your binned table.");
  expect(both).toContain("your limit leaves 0.035");
  expect(both).toMatch(/sums of best candidates, per person.*0\.005.*your limit 0\.040, exact sums included/);
});

test("what was found is the party's own: a public report has none of it", async () => {
  recordPassive(root, "private", { exposure: columnExposure });
  const report = await reportOf("private", false);
  expect(report).toContain("What was revealed to whom");
  expect(report).not.toContain(title);
  expect(report).not.toMatch(/LIMIT_BAL|could compute of your columns|your limit/);
});

test("without an audit the report says how to make one, and still has the gauge", async () => {
  recordPassive(root, "unaudited", { exposure: null, isGuarded: true });
  const report = await reportOf("unaudited");
  expect(report).toContain("tandem audit --job &lt;folder>");
  expect(report).toContain("No exact sums of all candidates were sent.");
  expect(report).toContain("(privacy: guarded): noise of deviation 5 in sums");
  expect(report).not.toContain("could compute of your columns");
});

test("the active party's report: a curve of guessed labels, and no gauge", async () => {
  recordActive(root, "labels", { exposure: labelExposure });
  const report = await reportOf("labels");
  expect(report).toContain("What retailer could guess of your labels");
  for (const name of ["best guess", "the model", "chance"]) expect(report).toContain(`>${name}</span>`);
  expect(report).not.toMatch(/Exact sums per person|NaN|undefined/);
});

test("names come from outside, and are escaped", async () => {
  const [first] = columnExposure.columns;
  const columns = [{ ...first, name: "<b>&'\"" }];
  recordPassive(root, "escaped", { exposure: { ...columnExposure, columns } });
  const report = await reportOf("escaped");
  expect(report).toContain("&lt;b>&amp;");
  expect(report).not.toContain("<b>&");
});

test("what was tried against two parties stands apart", async () => {
  const { whatIf } = columnExposure;
  const exposures = ["retailer", "telecom"].map((learner) => ({ ...labelExposure, learner, whatIf }));
  recordActive(root, "several", { exposure: null });
  const { view, own } = await readRecord(join(root, "several"));
  const report = jobReport({ view, own: { ...own, exposures } }, new Date(0));
  for (const learner of ["retailer", "telecom"]) expect(report).toContain(`would change, and cost: ${learner}</h3>`);
});
