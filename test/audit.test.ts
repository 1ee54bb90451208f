/** `tandem audit` as users and pipelines call it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SeededRandom } from "../src/base/random.ts";
import type { AuditResult, PresetCost, PresetExposure } from "../src/privacy/attack/audit-result.ts";
import { scratchDirectory } from "./support/command.ts";
import { tandemHere } from "./world/command-here.ts";
import { tandem } from "./world/tandem-process.ts";

const path = join(scratchDirectory(), "loans.csv");
const random = new SeededRandom("audit");
const lines = Array.from({ length: 600 }, (_, id) => {
  const risk = random.normal();
  const cells = [risk + random.normal(), random.normal(), 4 * risk + random.normal(), random.normal() - risk];
  const shown = cells.map((cell) => Math.round(10 * cell));
  return [id, ...shown, risk + random.normal() > 0.8 ? 1 : 0].join();
});
writeFileSync(path, ["id,income,age,visits,basket,defaulted", ...lines, ""].join("\n"));
const job =
  `audit --data ${path} --id id --label defaulted --active income,age --passive visits,basket ` +
  "--num-round 12 --max-bin 16 --seconds 60";
const audit = (...more: string[]): ReturnType<typeof tandem> => tandemHere(...job.split(" "), ...more);

test("the result is plain data, and every proven bin is correct", async () => {
  const { stdout, stderr } = await audit("--json", "--what-if");
  const { parties, labels, whatIf } = JSON.parse(stdout) as AuditResult;
  expect(parties.map(({ party, wrong }) => [party, wrong])).toEqual([["passive-1", 0]]);
  const [{ columns, certain, people, sumsPerPerson, reach }] = parties;
  expect(columns.map(({ name }) => name)).toEqual(["visits", "basket"]);
  expect(people).toBe(450);
  expect(certain.sums).toBeGreaterThan(certain.outcomes);
  expect(sumsPerPerson).toBeGreaterThan(0.1);
  expect(reach).toBe("all");
  expect(labels[0].guess?.without.auc).toBeGreaterThan(0.6);
  expect(whatIf?.map(({ name }) => name)).toEqual([
    "as it is",
    "answer_noise 5, min_people_share 0.01",
    "outcome_bits 2",
    "masked_scoring",
    "local_rounds 10",
  ]);
  expect(stderr).toContain("left");
});

test("--what-if says what each preset reveals in bits, and takes in time and bytes, with each scheme", async () => {
  const { stdout } = await audit("--json", "--what-if", "--num-round", "4", "--seconds", "2");
  const { schemes, presets = [] } = JSON.parse(stdout) as AuditResult;
  expect(presets.map(({ preset, scheme, sums }) => `${preset} ${scheme} ${sums}`)).toEqual([
    "exact paillier exact",
    "exact curve exact",
    "exact lattice exact",
    "guarded paillier hidden",
    "guarded curve noise 5",
    "guarded lattice hidden",
    "strict paillier hidden",
    "strict curve noise 20",
    "strict lattice hidden",
  ]);
  const of = (name: string): PresetExposure => {
    const { exposure } = presets.find(({ preset, scheme }) => `${preset} ${scheme}` === name) ?? {};
    if (!exposure) throw new Error(`${name} was not trained`);
    return exposure;
  };
  // The job is exact: its own figures are those of the other table, with either protocol.
  for (const scheme of ["paillier", "lattice"]) {
    const toldBits = schemes?.find((row) => row.scheme === scheme)?.toldBits;
    const { outcomes, scores, sumsAreBound } = of(`exact ${scheme}`);
    expect({ outcomes, scoring: scores }).toEqual({ outcomes: toldBits?.outcomes, scoring: toldBits?.scoring });
    expect(sumsAreBound).toBe(false);
  }
  expect(of("exact curve")).toEqual(of("exact paillier"));
  for (const scheme of ["paillier", "curve", "lattice"]) {
    const [exact, guarded, strict] = ["exact", "guarded", "strict"].map((preset) => of(`${preset} ${scheme}`));
    expect(guarded.scores).toBe(guarded.outcomes); // masked
    expect(exact.scores).toBeGreaterThan(guarded.scores);
    expect(guarded.outcomes).toBeGreaterThan(strict.outcomes);
    expect([guarded.sumsAreBound, strict.sumsAreBound]).toEqual([true, true]);
    expect(exact.bits).toBe(strict.bits);
  }
  expect(of("exact lattice").labelsAuc).toBeNull();
  expect(of("exact paillier").labelsAuc).toBeGreaterThan(0.5);
  const cost = (at: number): PresetCost => presets[at].cost ?? expect.fail("a preset without a cost");
  for (const at of [0, 2]) {
    const [exact, guarded] = [cost(at), cost(at + 3)];
    expect(guarded.bytes).toBeGreaterThan(2 * exact.bytes); // comparisons
    expect(guarded.overLine.seconds).toBeGreaterThan(exact.overLine.seconds);
    expect(exact.seconds).toBeGreaterThan(0);
  }
});

test("--what-if shows the cost of a regression in its own metric", async () => {
  const options = ["--objective", "reg:squarederror", "--label", "income", "--active", "age", "--num-round", "2"];
  const { stdout } = await audit(...options, "--max-depth", "2", "--seconds", "1", "--quiet", "--what-if");
  expect(stdout).toMatch(/What could lower this +rmse +certain/);
  expect(stdout).toMatch(/min_people_share 0.01 +\d+\.\d+ \([+-]\d+(\.\d+)?\) /);
  expect(stdout).toMatch(/ strict, paillier \(this\) +hidden +\d\.\d +< \d\.\d\d +\d\.\d +- .* s .* [kM]B\n/);
  expect(stdout).toContain("rmse: of the model, on test rows");
});

test("a table for users; with a limit, an error for pipelines where too much is proven", async () => {
  const { stdout } = await audit("--quiet", "--max-certain", "1");
  expect(stdout).toContain("What the active party can infer about passive-1: 450 people, 2 columns");
  expect(stdout).toMatch(/ {2}visits +16 +\d+ % +\d+ %/);
  expect(stdout).toContain("What passive-1 can infer about the labels, knowing none of them");
  const refused = await audit("--quiet", "--max-certain", "0.01");
  expect(refused.exitCode).toBe(2);
  expect(refused.stderr).toMatch(/of the cells of passive-1 .* are proven .* \(EXPOSURE\)/);
  expect((await audit("--max-certain", "often")).stderr).toContain("(USAGE)");
});

test("a job that grew no tree is not called safe", async () => {
  const folder = scratchDirectory();
  const line = {
    kind: "job",
    format: "tandem-transcript/1",
    party: "bank",
    role: "active",
    job: "spring",
    people: 9,
    depthMax: 3,
    outputs: 1,
    answerNoise: 0,
    resolutionBits: 24,
    maskedScoring: false,
    takesAllColumns: true,
  };
  writeFileSync(join(folder, "transcript.jsonl"), `${JSON.stringify(line)}\n`);
  const { exitCode, stdout, stderr } = await tandem("audit", "--job", folder, "--max-certain", "0");
  expect([exitCode, stdout]).toEqual([2, ""]);
  expect(stderr).toContain("no tree was grown with another party, nothing to audit (FILE_UNREADABLE)");
  writeFileSync(join(folder, "transcript.jsonl"), `${JSON.stringify({ kind: "job", format: "another" })}\n`);
  expect((await tandemHere("audit", "--job", folder)).stderr).toContain("by another version of Tandem (FILE_FORMAT)");
  writeFileSync(join(folder, "transcript.jsonl"), `${JSON.stringify({ ...line, people: "9" })}\n`);
  const changed = await tandemHere("audit", "--job", folder);
  expect(changed.stderr).toContain("transcript.jsonl is damaged: a line of kind 'job' is invalid (FILE_FORMAT)");
});
