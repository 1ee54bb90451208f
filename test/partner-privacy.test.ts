/**
 * Companies over TLS: the defences that a passive party's policy demands of a job, and a partner's budget over all
 * jobs.
 */
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { auditJob } from "../src/simulate/audit/audit-job.ts";
import { TandemError } from "../src/base/error.ts";
import { type ActiveWorld, realWorld } from "../src/party/active/world.ts";
import { runActive } from "../src/party/active/run.ts";
import { ownExposures } from "../src/record/exposure-facts.ts";
import { readRecord } from "../src/record/stored-record.ts";
import { readTranscript } from "../src/record/transcript-file.ts";
import type { TranscriptLine } from "../src/record/transcript-lines.ts";
import { runPredict } from "../src/scoring/run-predict.ts";
import { expectError } from "./support/expect-error.ts";
import { people, TrainedWorlds, writeInput } from "./support/test-worlds.ts";

const worlds = new TrainedWorlds();

const spentSums = (events: readonly { readonly type: string }[]): number => {
  const last = events.findLast(({ type }) => type === "budget") as { spent: { sumsPerPerson: number } } | undefined;
  return last?.spent.sumsPerPerson ?? Number.NaN;
};

const agreedParameters = (events: readonly { readonly type: string }[]): unknown =>
  (events.findLast(({ type }) => type === "job") as { parameters: unknown } | undefined)?.parameters;

test("a job with weaker defences than the policy's preset is refused; the error names every weaker field", async () => {
  const world = await worlds.restarted(1, { policy: { privacy: "guarded" } });
  await expectError(
    () => world.train("summer"),
    "POLICY",
    /shop0 does not allow.*answer_noise: 0 requested, at least 5 .*min_people_share.*outcome_bits.*masked_scoring/,
  );
});

test("jobs add up, over restarts of the party, until the budget is spent", async () => {
  const world = await worlds.restarted(1, {});
  const [shop] = world.shops;
  const [party] = world.parties;
  await world.train("summer");
  await party.seen("job-ended");
  const afterOne = spentSums(party.events); // the training of the copied world, and this one
  expect(afterOne).toBeGreaterThan(0);
  expect(agreedParameters(party.events)).toMatchObject({ privacy: "exact", answer_noise: 0, masked_scoring: false });

  const bounded = await world.start(shop, { policy: { budget: { sums_per_person: 1.2 * afterOne } } });
  const events: { readonly type: string }[] = [];
  await expectError(
    () => world.train("autumn", {}, { onEvent: (event) => events.push(event) }),
    "POLICY",
    /budget of shop0 for this partner does not allow this job: sums_per_person: [\d.e-]+ used/,
  );
  // A smaller job fits the budget.
  const short = { num_round: 1, max_depth: 1, max_bin: 8 };
  await world.train("winter", { training: short, privacy: { max_thresholds: 3 } });
  await bounded.seen("job-ended");
  // The owner sees the agreed defences by their config names; they match no preset.
  expect(agreedParameters(bounded.events)).toMatchObject({ max_thresholds: 3, min_people_share: 0 });
  expect(agreedParameters(bounded.events)).not.toHaveProperty("privacy");
  expect(spentSums(bounded.events)).toBeGreaterThan(afterOne);
  expect(spentSums(bounded.events)).toBeLessThanOrEqual(1.2 * afterOne);
});

/** The connection with the passive party is lost before the end of the first tree, when all of it was answered. */
function losingOnce(): ActiveWorld {
  let isLost = false;
  return {
    ...realWorld,
    sleep: () => Promise.resolve(),
    connect: async (config, watchOf) => {
      const [peer] = await realWorld.connect(config, watchOf);
      const finishTree: typeof peer.finishTree = async (finished, options) => {
        if (isLost) return peer.finishTree(finished, options);
        isLost = true;
        throw new TandemError("PARTY_LOST", "torn");
      };
      return [{ ...peer, finishTree }];
    },
  };
}

test("a partner that reconnects before the end of each tree, or leaves there, gets nothing back", async () => {
  const world = await worlds.restarted(1, {});
  const [shop] = world.shops;
  const training = { num_round: 1, max_depth: 1, max_bin: 8 }; // its tree always takes the most that it can
  const attack = (job: number, patience_seconds: number) =>
    world.train(`attack-${job}`, { training, patience_seconds }, { surroundings: losingOnce() });
  const [party] = world.parties;
  await world.train("usual", { training });
  await party.seen("passive-result", 1);
  const before = spentSums(party.events);
  await attack(0, 60);
  await party.seen("passive-result", 2);
  const perJob = spentSums(party.events) - before;
  expect(perJob).toBeGreaterThan(0);
  const budget = { sums_per_person: before + 3.5 * perJob };
  const bounded = await world.start(shop, { policy: { budget, max_unfinished_jobs: 100 } });
  await attack(1, 60);
  await expectError(() => attack(2, 0), "PARTY_LOST", /torn/);
  for (let job = 3; job < 6; job++)
    await expectError(() => attack(job, 60), "POLICY", /budget of shop0 .* does not allow this job: sums_per_person/);
  await bounded.seen("job-ended", 3); // two attempts at the first job, and one at the second
  expect(spentSums(bounded.events) - before).toBeCloseTo(3 * perJob, 9);
});

test("a warm start must fit the policy too: its thresholds, and the instances that it scores", async () => {
  const onward = { training: { num_round: 1, max_depth: 2, max_bin: 8 }, warm_start: { model: "spring" } };
  const world = await worlds.restarted(1, { policy: { privacy: { max_thresholds: 1 } } });
  await expectError(
    () => world.train("summer", { ...onward, privacy: { max_thresholds: 1 } }),
    "POLICY",
    /start_model: shop0 has more thresholds in it than max_thresholds allows/,
  );
  const poor = await worlds.restarted(1, { policy: { budget: { scored_people: 200 } } });
  await expectError(
    () => poor.train("autumn", onward),
    "POLICY",
    /budget of shop0 .* does not allow this job: scored_people: \d+ used, \d+ requested, 200 allowed/,
  );
});

test("scores are bounded over all requests", async () => {
  // The training of the copied world has already predicted its test rows.
  const world = await worlds.restarted(1, { policy: { budget: { scored_people: 1200 } } });
  const ids = people.slice(30, 190).map(({ id }) => id);
  const input = writeInput(world, "people.csv", ids);
  let answered = 0;
  const ask = async (): Promise<void> => {
    for (; answered < 20; answered++)
      await runPredict(world.config, {
        model: "spring",
        input,
        output: join(world.bank.folder, "scores.csv"),
        unknown: "refuse",
        onProgress: () => {},
      });
  };
  await expectError(ask, "POLICY", /scored_people: \d+ used, 160 requested, 1200 allowed/);
  expect(answered).toBeLessThan(8);
});

test("a transcript is kept on request: both parties record the same instances in the same nodes", async () => {
  const world = await worlds.restarted(1, { output: { directory: "jobs", transcript: true } });
  const config = await world.activeConfig("kept", { output: { directory: "jobs", transcript: true } });
  await runActive(config, () => {});
  await world.parties[0].seen("job-ended");
  const [bank, shop] = await Promise.all(
    [world.bank, world.shops[0]].map(({ folder }) => readTranscript(join(folder, "jobs", "kept"))),
  );
  const nodes = (lines: readonly TranscriptLine[]): unknown[] =>
    lines.flatMap((line) => (line.kind === "node" || line.kind === "outcome" ? [{ ...line, peer: "" }] : []));
  expect(nodes(bank).length).toBeGreaterThan(4);
  expect(nodes(shop)).toEqual(nodes(bank));
  const kinds = (lines: readonly TranscriptLine[]): string[] => [...new Set(lines.map(({ kind }) => kind))].sort();
  expect(kinds(bank)).toEqual(["job", "node", "outcome", "people", "tree"]);
  expect(kinds(shop)).toEqual(["columns", "job", "node", "outcome", "split", "tree"]);
  for (const { folder } of [world.bank, world.shops[0]])
    expect(statSync(join(folder, "jobs", "kept", "transcript.jsonl")).mode & 0o777).toBe(0o600);
  expect(existsSync(join(world.bank.folder, "jobs", "spring", "transcript.jsonl"))).toBe(false);
});

test("an audit of a folder: columns at the passive party, labels at the active one; kept for the page", async () => {
  const training = { num_round: 12, max_depth: 4, max_bin: 8 };
  const world = await worlds.restarted(1, { output: { directory: "jobs", transcript: true } });
  const config = await world.activeConfig("kept", { training, output: { directory: "jobs", transcript: true } });
  await runActive(config, () => {});
  await world.parties[0].seen("job-ended");
  const clock = { left: () => 20_000, progress: () => {} };
  const folders = [world.bank, world.shops[0]].map(({ folder }) => join(folder, "jobs", "kept"));
  const [bank, shop] = [await auditJob(folders[0], clock), await auditJob(folders[1], clock)];

  expect(shop).toMatchObject({ role: "passive", result: { isEstimate: true, labels: [] } });
  const [exposed] = shop.result.parties;
  expect(exposed.wrong).toBe(0);
  expect(exposed.trees).toBe(12);
  expect(exposed.certain.sums).toBeGreaterThan(0.5);
  expect(exposed.certain.sums).toBeGreaterThanOrEqual(exposed.certain.outcomes);

  expect(bank.role).toBe("active");
  const [{ guess }] = bank.result.labels;
  expect(guess?.byTree).toHaveLength(12);
  expect(guess?.model).toBeGreaterThan(guess?.without.auc ?? 1);

  for (const [i, name] of ["bank", "shop0"].entries()) {
    const { view, own } = await readRecord(folders[i]);
    expect(ownExposures(view, own)).toMatchObject([{ about: name }]);
  }
  await expectError(
    () => auditJob(join(world.bank.folder, "jobs", "spring"), clock),
    "FILE_UNREADABLE",
    /transcript: true/,
  );
});

test("a tree with sums over few instances is refused by policy", async () => {
  const world = await worlds.restarted(1, { policy: { min_instances_per_tree: 100 } });
  const training = { num_round: 2, max_depth: 2, max_bin: 8, subsample: 0.1 };
  await expectError(
    () => world.train("few", { training }),
    "POLICY",
    /shop0 does not allow this tree: it sums \d+ instances, the minimum is 100/,
  );
});
