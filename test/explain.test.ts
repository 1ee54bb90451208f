/**
 * `--explain-leakage` and `--dry-run` as a user calls them: the stated bounds are compared with the counts after the
 * job.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { PartyEvent } from "../src/record/events.ts";
import type { Leakage } from "../src/privacy/leakage.ts";
import { logTo } from "../src/record/log.ts";
import type { LedgerName } from "../src/messages/table.ts";
import { scratchDirectory, writeLoanTable } from "./support/command.ts";
import { tandemHere } from "./world/command-here.ts";
import { tandem } from "./world/tandem-process.ts";
import { makePeople } from "./world/people.ts";
import { testWorlds } from "./support/test-worlds.ts";

const root = scratchDirectory();
const worlds = testWorlds();
const people = makePeople(120, "explain");

function bounds(leakage: Leakage, party: string, about: string): Map<string, number | null> {
  const learns = leakage.parties.find((one) => one.party === party)?.learns ?? [];
  return new Map(learns.filter((one) => one.about === about).map(({ name, atMost }) => [name, atMost]));
}

test("train states what it will reveal, and reveals no more; a dry run connects to no party", async () => {
  const world = await worlds.found({
    bank: { people: people.slice(0, 100), columns: [0, 1] },
    shop: { people: people.slice(20), columns: [2, 3] },
  });
  const { bank } = world;
  const party = await world.start(world.shop, {
    data: { path: "data.csv", id: "id", features: "all", monotone_constraints: { shop_2: 1 } },
  });
  const path = world.writeActive("explained", {
    training: {
      num_round: 3,
      max_depth: 3,
      max_bin: 8,
      sampling_method: "goss",
      top_rate: 0.3,
      other_rate: 0.2,
      local_rounds: 1,
    },
  });
  const config = ["-c", path, "--explain-leakage"];

  const dry = await tandem("train", ...config, "--dry-run");
  expect([dry.stderr, dry.exitCode]).toEqual(["", 0]);
  expect(dry.stdout).toMatch(
    /^What job explained reveals[\s\S]*goss: 30 % of the people[\s\S]*Nothing was sent or written/,
  );
  expect(existsSync(join(bank.folder, "jobs"))).toBe(false);
  expect(party.events.map(({ type }) => type)).toEqual(["certificate", "listening"]);
  const perPerson = /bank gets up to ([\d.]+) exact sums per person of shop.*with half of them common it is ([\d.]+\d)/;
  const [, ifAllCommon, ifHalfCommon] = (perPerson.exec(dry.stdout) ?? []).map(Number);

  const { stdout, exitCode } = await tandemHere("train", ...config, "--json", "--quiet");
  expect(exitCode).toBe(0);
  const [first, second] = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { leakage: Leakage; trees: number });
  expect(second.trees).toBe(3);
  const { leakage } = first;
  expect(leakage.absent.map(({ name }) => name).sort()).toEqual([
    "bestCandidates",
    "candidateLinks",
    "categoryGroups",
    "categoryWeights",
    "classes",
    "drawnTogether",
    "maskedConditions",
    "maskedScores",
    "nodePlaces",
    "nodesAsked",
    "openGroups",
    "ownContributions",
    "splitGroups",
    "startOutcomes",
    "validationRows",
    "vettedColumns",
    "vettedNames",
    "vettedStabilities",
  ]);
  const events = readFileSync(join(bank.folder, "jobs", "explained", "events.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as PartyEvent);
  const ledger = events.flatMap((event) => (event.type === "ledger" ? [event.ledger] : [])).at(-1);
  const said = new Map([...bounds(leakage, "bank", "shop"), ...bounds(leakage, "shop", "bank")]);
  for (const name of [
    "splitOutcomes",
    "predictionOutcomes",
    "encryptedGradients",
    "wins",
    "predictedIds",
  ] satisfies LedgerName[]) {
    expect(ledger?.[name], name).toBeGreaterThan(0);
    expect(said.get(name), name).toBeGreaterThanOrEqual(ledger?.[name] ?? Infinity);
  }
  expect(said.get("encryptedGradients")).toBe(2 * (23 + 15)); // two shared rounds; 30 % and 20 % of 75 instances

  // 80 of the bank's 100 rows are common.
  const budget = party.events.findLast((event) => event.type === "budget");
  const spent = budget?.spent.sumsPerPerson ?? NaN;
  expect(spent).toBeGreaterThan(0);
  expect(spent).toBeLessThanOrEqual(((ifAllCommon * 100) / 80) * (1 + 1e-9));
  expect(ifHalfCommon).toBeCloseTo(2 * ifAllCommon, 1);

  // The passive party logs its own estimate when the job begins.
  const job = party.events.find((event) => event.type === "job");
  const sums = job?.disclosures?.find(({ name }) => name === "candidateSums")?.atMost ?? 0;
  expect(sums).toBeGreaterThanOrEqual(ledger?.candidateSums ?? Infinity);
  expect(job?.disclosures?.find(({ name }) => name === "monotone")?.atMost).toBe(1);
  let text = "";
  if (job !== undefined)
    logTo({ level: "info", terminal: true, write: (more) => (text += more), now: () => new Date(0) })(job);
  expect(text).toMatch(
    /shop: job explained will reveal to bank, at most: per candidate of a passive party.*\(up to [\d,]+ sums/,
  );
  expect(text).not.toContain("shop_2");
});

test("a passive party prints what its policy allows, and serves no job in a dry run", async () => {
  const world = await worlds.found({
    saver: { people: people.slice(0, 5), columns: [0] },
    grocer: { people, columns: [2, 3] },
  });
  const config = world.writePassive(world.shop, {
    policy: { max_trees: 10, max_depth: 4, min_instances_per_candidate: 5, scoring: false },
  });
  const { stdout, stderr, exitCode } = await tandemHere(
    "party",
    "-c",
    config,
    "--explain-leakage",
    "--dry-run",
    "--json",
  );
  expect([stderr, exitCode]).toEqual(["", 0]);
  const { leakage } = JSON.parse(stdout) as { leakage: Leakage };
  const learns = bounds(leakage, "saver", "grocer");
  expect(learns.get("candidates")).toBe(2);
  expect(learns.get("splitOutcomes")).toBe(10 * 4 * people.length);
  expect(learns.has("suppressed")).toBe(true);
  expect(leakage.absent.map(({ name }) => name)).toEqual([
    "bestCandidates",
    "candidateLinks",
    "drawnTogether",
    "categoryGroups",
    "monotone",
    "scoringOutcomes",
    "scoringHolds",
    "scoringDefaults",
    "featureTags",
    "vettedColumns",
    "vettedNames",
    "vettedStabilities",
    "nodesAsked",
    "nodePlaces",
    "categoryWeights",
    "scoredIds",
    "ownContributions",
  ]);
});

test("simulate states what every party learns, and refuses bad input in a dry run too", async () => {
  const table = join(root, "loans.csv");
  writeLoanTable(table, 80);
  const options = [
    "simulate",
    "--data",
    table,
    "--id",
    "id",
    "--label",
    "defaulted",
    "--active",
    "income,debt",
    "--passive",
    "visits,basket",
    "--passive",
    "minutes",
    "--num-round",
    "2",
    "--max-bin",
    "4",
    "--validation-fraction",
    "0.2",
    "--dry-run",
  ];
  const { stdout, exitCode } = await tandemHere(...options, "--explain-leakage", "--json");
  expect(exitCode).toBe(0);
  const { leakage, dryRun } = JSON.parse(stdout) as { leakage: Leakage; dryRun: boolean };
  expect(dryRun).toBe(true);
  expect(leakage.parties.map(({ party }) => party)).toEqual(["active", "passive-1", "passive-2"]);
  // The bound covers trees, nodes, features and cuts.
  expect(bounds(leakage, "active", "passive-1").get("candidateSums")).toBe(2 * 7 * 2 * 3);
  // 80 rows: a quarter tests, a fifth of the rest validates.
  expect(bounds(leakage, "passive-2", "active").get("encryptedGradients")).toBe(2 * 48);
  const refused = await tandemHere(...options, "--objective", "count:poisson", "--base-score", "-1");
  expect(refused.exitCode).toBe(2);
  expect((await tandemHere(...options)).stdout).toContain("Nothing was sent or written");
});
