/**
 * Cross-validation in one federated job: every fold's model is the centralised one of that fold, bit for bit; in memory
 * and between real parties.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { resolveParameters } from "../src/base/parameters/parameters.ts";
import type { Defences } from "../src/privacy/defences/defences.ts";
import { trainingParameters, type TrainingParameters } from "../src/gbdt/parameters/training-parameters.ts";
import { TandemError } from "../src/base/error.ts";
import { plaintextBitsMax } from "../src/codec/packing.ts";
import { generateKey, type PrivateKey, selectKernel } from "../src/crypto/paillier/index.ts";
import { columnIndex, numericColumn } from "../src/data/columns.ts";
import { readCsvTable } from "../src/data/csv-table.ts";
import { foldRows, splitRows } from "../src/data/split.ts";
import { binFeature, type BinnedFeature } from "../src/gbdt/split/binning.ts";
import { BoostingMonitor } from "../src/gbdt/boost/boosting-monitor.ts";
import { BoostingTask } from "../src/gbdt/boost/boosting-task.ts";
import { type CrossValidationOutcome, FoldTurns, type Turns } from "../src/gbdt/boost/fold-turns.ts";
import { type Minimums, noMinimums } from "../src/gbdt/split/offered-candidates.ts";
import { rowNumbers } from "../src/base/rows/row-numbers.ts";
import { CountedColumns } from "../src/gbdt/split/revealed-pieces.ts";
import { revealedWithin } from "../src/gbdt/split/revealed-splits.ts";
import { centralisedRounds, type TrainedModel } from "../src/gbdt/boost/train.ts";
import { tuneOutcome } from "../src/gbdt/tune/outcome.ts";
import { spaceFromText } from "../src/gbdt/tune/parse-space.ts";
import { searchSchedule } from "../src/gbdt/tune/schedule.ts";
import { drawTrials } from "../src/gbdt/tune/search-space.ts";
import { TrialTurns } from "../src/gbdt/tune/trial-turns.ts";
import { growTrials } from "../src/gbdt/tune/tune-in-one-place.ts";
import type { Tree } from "../src/gbdt/tree/tree.ts";
import type { TunePrice } from "../src/cli/terminal/tune-text.ts";
import type { TuningResult } from "../src/party/active/tuning.ts";
import type { Leakage } from "../src/privacy/leakage.ts";
import { type ActiveRule, isOwnRule } from "../src/protocol/active/federated-tree.ts";
import { quantiserFor } from "../src/codec/gradient-layout.ts";
import { agreedParameters, noiseIn, treesPerBoostingRound } from "../src/protocol/job-parameters.ts";
import { PaillierActive } from "../src/scheme/paillier/active.ts";
import { PaillierPassive } from "../src/scheme/paillier/passive.ts";
import { PlaintextJournal } from "../src/protocol/active/plaintext-journal.ts";
import { connectInMemory } from "../src/transport/in-memory.ts";
import { curve } from "../src/scheme/curve/curve.ts";
import { lattice } from "../src/scheme/lattice/lattice.ts";
import type { Scheme } from "../src/scheme/scheme.ts";
import type { PassivePeer } from "../src/wire/peer.ts";
import { partOf } from "./support/campaign.ts";
import { tandemHere } from "./world/command-here.ts";
import { tandem } from "./world/tandem-process.ts";
import { randomTable } from "./support/tables.ts";
import { people, TrainedWorlds } from "./support/test-worlds.ts";
import { TrainingRows } from "../src/gbdt/rows/training-rows.ts";
import type { Job } from "../src/protocol/job.ts";
import {
  binTable,
  noiseSecret,
  rowsOf,
  testJob,
  type TestTable,
  simulatedRoles,
  samplingSecret,
} from "./world/simulated.ts";
import { PassiveDisk } from "./support/passive-disk.ts";

const worlds = new TrainedWorlds();
let key: PrivateKey;
beforeAll(async () => {
  key = await generateKey({ bits: 256, insecure: true });
});

const { codec } = testJob({});
const foldsOf = (rows: number, count: number): Uint32Array[] =>
  Array.from({ length: count }, (_, fold) => foldRows(rows, count, fold, 7).test);

interface FoldJob {
  readonly table: TestTable;
  readonly binned: readonly (readonly BinnedFeature[])[];
  readonly training: TrainingParameters;
  readonly folds: readonly Uint32Array[];
  readonly minimums?: Minimums;
  readonly defences?: Partial<Defences>;
  /** Default: Paillier. */
  readonly scheme?: Scheme;
}

const ownJob = ({ training, defences, scheme }: FoldJob): Job<never> => ({
  ...testJob({ defences, scheme, key }, "cv"),
  training,
});
const defencesOf = (job: FoldJob): Defences => ownJob(job).privacy;

/** What the parties keep between attempts. */
class Stored {
  readonly journal = new PlaintextJournal();
  readonly disks = [new PassiveDisk(), new PassiveDisk()];
}

/** One attempt, which starts from the state that the previous attempt left. */
async function attempt(
  job: FoldJob,
  turns: Turns,
  stored: Stored,
  trees: Tree<ActiveRule>[],
  { treesMax = Infinity, splitsMax = Infinity } = {},
): Promise<void> {
  const { table } = job;
  const kernel = selectKernel();
  const scheme =
    job.scheme === undefined
      ? new PaillierActive(kernel, key, 1, undefined, undefined, new Uint8Array(32))
      : job.scheme.active(await job.scheme.makeSecret({ keyBits: 0, insecureKey: true }), { seed: new Uint8Array(32) });
  const broken = (): TandemError => new TandemError("PARTY_LOST", "the test breaks the connection");
  let splitsAsked = 0;
  const { active } = simulatedRoles({
    table,
    job: ownJob(job),
    agreed: agreedParameters({ ...ownJob(job), training: turns.whole }),
    binned: job.binned,
    scheme,
    passiveScheme: (party) =>
      job.scheme?.passive({ seed: new Uint8Array(32).fill(party) }) ?? new PaillierPassive(kernel, 1),
    passive: (party) => {
      const disk = stored.disks[party - 1];
      return {
        permutationSecret: new Uint8Array(32).fill(party), // every attempt the same, as it is stored
        minimums: job.minimums ?? noMinimums,
        progress: disk.progress,
        store: disk.store,
        roundStore: disk,
        nodeJournal: disk.nodeJournal,
      };
    },
    connect: (name, service) => {
      const peer = connectInMemory(name, service);
      return {
        ...peer,
        async *splits(...request: Parameters<PassivePeer["splits"]>) {
          splitsAsked++;
          yield* peer.splits(...request);
          if (splitsAsked > splitsMax) throw broken();
        },
      };
    },
    active: {
      folds: turns,
      journal: stored.journal,
      observer: {
        treeBegan(tree) {
          if (tree >= treesMax) throw broken();
        },
        treeFinished: (tree, _margins, _evaluate, grown) => void (trees[tree] = grown),
      },
    },
  });
  await active.join();
  await active.crossValidate(turns);
  await active.finish();
}

/** The folds' models trained centrally, with the same numbers of trees, interleaved. */
async function centralisedFolds(
  job: FoldJob,
  rounds: number,
  secrets = job.binned.map((_, party) => samplingSecret(party)),
): Promise<TrainedModel[]> {
  const { table, binned, training, folds, minimums } = job;
  const defences = defencesOf(job);
  const perRound = treesPerBoostingRound(training);
  const membership = job.scheme?.membership ?? "sent";
  const plaintextBits = job.scheme?.plaintextBitsMax({}) ?? plaintextBitsMax(256);
  const noise = noiseIn(ownJob(job));
  const shared = {
    instanceCount: table.labels.length,
    folds: folds.length,
    revealed: binned.map((features, party) =>
      party === 0
        ? null
        : revealedWithin(defences, () => new CountedColumns(features, rowNumbers(table.labels.length))),
    ),
    rounds: new Map<string, number>(),
  };
  const growing = folds.map((validationRows, fold) =>
    centralisedRounds({
      parties: binned,
      rows: rowsOf(table).holdingOut(validationRows),
      parameters: { ...training, num_round: rounds, early_stopping_rounds: 0 },
      quantise: quantiserFor(codec, plaintextBits, noise, noise !== null || membership === "hidden"),
      membership,
      samplingSecrets: secrets,
      minimums: binned.map((_, party) => (party === 0 ? noMinimums : (minimums ?? noMinimums))),
      defences,
      noiseSecrets: binned.map((_, party) => noiseSecret(party)),
      job: shared,
      treeNumber: (tree) => (Math.floor(tree / perRound) * folds.length + fold) * perRound + (tree % perRound),
    }),
  );
  const models: TrainedModel[] = [];
  while (models.length < folds.length) {
    for (const [fold, model] of growing.entries()) {
      const { done, value } = await model.next();
      if (done === true) models[fold] = value;
    }
  }
  return models;
}

/** The active party's view: another's split is only its owner's. */
const seen = (tree: Tree<ActiveRule>): unknown[] =>
  tree.map((node) =>
    node.kind === "leaf" || (isOwnRule(node.rule) && node.rule.owner === 0) ? node : { ...node, rule: node.rule.owner },
  );

function jobOf(given: Partial<TrainingParameters>, table: TestTable, foldCount: number, minimums?: Minimums): FoldJob {
  const training = resolveParameters(trainingParameters, {
    num_round: 3,
    max_depth: 3,
    max_bin: 8,
    min_child_weight: 0,
    ...given,
  });
  return {
    table,
    binned: binTable(table, training),
    training,
    folds: foldsOf(table.labels.length, foldCount),
    ...(minimums === undefined ? {} : { minimums }),
  };
}

async function expectEqual(
  job: FoldJob,
  turns: FoldTurns,
  trees: readonly Tree<ActiveRule>[],
): Promise<CrossValidationOutcome> {
  const outcome = turns.outcome();
  const owners = new Set(
    trees.flatMap((tree) => tree.flatMap((node) => (node.kind === "split" ? [node.rule.owner] : []))),
  );
  expect(
    [...owners].sort((a, b) => a - b),
    "every party has splits, or little was tested",
  ).toEqual([0, 1, 2]);
  for (const [fold, centralised] of (await centralisedFolds(job, outcome.rounds)).entries()) {
    const margins = turns.marginsOf(fold);
    expect(
      centralised.trainMargins.every((margin, i) => Object.is(margin, margins[i])),
      `fold ${fold}`,
    ).toBe(true);
    const perRound = centralised.trees.length / outcome.rounds;
    const ours = trees.filter((_, tree) => Math.floor(tree / perRound) % job.folds.length === fold);
    expect(ours.map(seen)).toEqual(centralised.trees.map(seen));
  }
  return outcome;
}

const table = randomTable("folds", { rows: 90, features: [2, 2, 2], missingFraction: 0.1 });
const classes: TestTable = { ...table, labels: table.labels.map((label, i) => label + (i % 3 === 0 ? 1 : 0)) };

describe("every fold's model is the centralised one, node for node and margin for margin", () => {
  const hiddenJobs: readonly [string, Partial<TrainingParameters>, Partial<Defences>][] = [
    ["as it is", {}, {}],
    ["noise", { max_depth: 4, subsample: 0.8 }, { answer_noise: 0.5 }],
    [
      "forests, goss, leaf by leaf",
      { num_round: 2, num_parallel_tree: 2, sampling_method: "goss", grow_policy: "lossguide", max_leaves: 5 },
      {},
    ],
    [
      "a tree per class, columns per node, the first round local, few thresholds, noise",
      { objective: "multi:softprob", num_class: 3, local_rounds: 1, colsample_bynode: 0.7 },
      { max_thresholds: 3, answer_noise: 0.5 },
    ],
    ["small groups suppressed", { max_depth: 4 }, { min_people_share: 0.05 }],
    ["trees dropped", { booster: "dart", rate_drop: 0.5, one_drop: true }, {}],
  ];
  test.each(partOf(hiddenJobs, 1, 3))("members are hidden: %s", async (_what, training, defences) => {
    const rows = training.objective === undefined ? table : classes;
    const job = { ...jobOf(training, rows, 3), defences, scheme: lattice };
    const turns = new FoldTurns(job.training, rowsOf(rows), job.folds);
    const [stored, trees]: [Stored, Tree<ActiveRule>[]] = [new Stored(), []];
    for (const limits of [{ splitsMax: 1 }, { treesMax: 5 }, { splitsMax: 3 }])
      await expect(attempt(job, turns, stored, trees, limits)).rejects.toThrow("breaks the connection");
    await attempt(job, turns, stored, trees);
    await expectEqual(job, turns, trees);
  });

  const jobs: readonly [string, Partial<TrainingParameters>, TestTable, Minimums?, number?][] = [
    ["as it is", {}, table],
    ["noise in answers", { subsample: 0.8, max_depth: 4 }, table, noMinimums, 0.5],
    ["noise, a tree per class", { objective: "multi:softprob", num_class: 3 }, classes, noMinimums, 0.5],
    ["sampled rows and columns", { subsample: 0.7, colsample_bytree: 0.6, colsample_bynode: 0.7 }, table],
    ["goss, leaf by leaf", { sampling_method: "goss", grow_policy: "lossguide", max_leaves: 5 }, table],
    ["forests", { num_parallel_tree: 2, subsample: 0.7, colsample_bynode: 0.7 }, table],
    [
      "a tree per class, the first round local",
      { objective: "multi:softprob", num_class: 3, local_rounds: 1 },
      classes,
    ],
    ["small groups suppressed", { max_depth: 4 }, table, { perNode: 5, perCandidate: 3 }],
  ];
  test.each(partOf(jobs, 1, 2))("%s", async (_what, training, rows, minimums, answer_noise = 0) => {
    const job = { ...jobOf(training, rows, 3, minimums), defences: { answer_noise } };
    const turns = new FoldTurns(job.training, rowsOf(rows), job.folds);
    const trees: Tree<ActiveRule>[] = [];
    await attempt(job, turns, new Stored(), trees);
    const outcome = await expectEqual(job, turns, trees);
    expect(outcome).toMatchObject({ rounds: 3, bestRound: 2 });
    const monitor = new BoostingMonitor(
      job.training,
      new BoostingTask(job.training, rowsOf(rows).holdingOut(job.folds[1])),
    );
    expect(outcome.folds[1].test).toEqual(await monitor.onValidation(turns.marginsOf(1)));
    expect(outcome.folds[1].train).toEqual(await monitor.onTraining(turns.marginsOf(1)));
  });

  test("early stopping uses the mean over all folds, and all folds stop together", async () => {
    const job = jobOf(
      { num_round: 30, eta: 1, max_depth: 4, early_stopping_rounds: 2, eval_metric: ["error", "logloss"] },
      table,
      4,
    );
    const turns = new FoldTurns(job.training, rowsOf(table), job.folds);
    const trees: Tree<ActiveRule>[] = [];
    await attempt(job, turns, new Stored(), trees);
    const { rounds, bestRound, history, folds } = await expectEqual(job, turns, trees);
    expect(rounds).toBeLessThan(30);
    expect(bestRound).toBe(rounds - 3);
    const means = history.map(({ test: { logloss } }) => logloss.mean);
    expect(means.indexOf(Math.min(...means))).toBe(bestRound);
    expect(means[bestRound]).toBeCloseTo(
      folds.reduce((sum, { test: { logloss } }) => sum + logloss / 4, 0),
      12,
    );
  });

  test.each<Partial<Defences>>([
    { max_thresholds: 1 },
    { max_thresholds: 3, min_people_share: 0.03 },
    { min_people_share: 0.05 },
  ])("all folds together, and the same after a lost connection: %o", async (defences) => {
    const growths = [{ max_depth: 4 }, { grow_policy: "lossguide", max_leaves: 6 }] as const;
    for (const training of partOf<Partial<TrainingParameters>>(growths, defences.max_thresholds ?? 0, 2)) {
      const job = { ...jobOf(training, table, 3), defences };
      const turns = new FoldTurns(job.training, rowsOf(table), job.folds);
      const [stored, trees]: [Stored, Tree<ActiveRule>[]] = [new Stored(), []];
      for (const limits of [{ splitsMax: 1 }, { splitsMax: 9 }, { treesMax: 5 }, { splitsMax: 6 }])
        await expect(attempt(job, turns, stored, trees, limits)).rejects.toThrow("breaks the connection");
      await attempt(job, turns, stored, trees);
      await expectEqual(job, turns, trees);
      const limit = defences.max_thresholds ?? Infinity;
      for (const { progress } of stored.disks) {
        const byFeature = [0, 1].map(
          (feature) =>
            new Set(progress.splits.flatMap((split) => (split.feature === feature ? [split.threshold] : []))),
        );
        for (const { size } of byFeature) expect(size).toBeLessThanOrEqual(limit);
      }
    }
  });

  test.each(partOf([{}, { max_thresholds: 2 }, { answer_noise: 0.5 }, { answer_noise: 0.5, max_thresholds: 2 }], 0, 3))(
    "a connection that is lost in the middle of a round of several trees changes nothing: %o",
    async (defences) => {
      const job = { ...jobOf({ objective: "multi:softprob", num_class: 3, num_round: 2 }, classes, 3), defences };
      const turns = new FoldTurns(job.training, rowsOf(classes), job.folds);
      const [stored, trees]: [Stored, Tree<ActiveRule>[]] = [new Stored(), []];
      await expect(attempt(job, turns, stored, trees, { treesMax: 7 })).rejects.toThrow("breaks the connection");
      expect(turns.treesDone).toBe(6);
      await attempt(job, turns, stored, trees);
      expect((await expectEqual(job, turns, trees)).rounds).toBe(2);
    },
  );
});

describe("a parameter search in one job finds what a central one finds, also after lost connections", () => {
  const searched: Partial<TrainingParameters> = { num_round: 4, max_depth: 2, early_stopping_rounds: 2 };
  const searches: readonly [string, Partial<TrainingParameters>, Partial<Defences>, Scheme | undefined][] = [
    ["halving, forests", { ...searched, num_round: 2, num_parallel_tree: 2 }, {}, undefined],
    ["halving", searched, {}, lattice],
    ["noise", { num_round: 2 }, { answer_noise: 0.3 }, lattice],
    ["curve: noise", { num_round: 2 }, { answer_noise: 0.3 }, curve],
    ["curve: trees dropped", { num_round: 2, booster: "dart", rate_drop: 0.5, one_drop: true }, {}, curve],
    ["trees dropped", { num_round: 2, booster: "dart", rate_drop: 0.5, one_drop: true }, {}, undefined],
    ["noise, few thresholds", { num_round: 2 }, { answer_noise: 0.3, max_thresholds: 3 }, undefined],
  ];
  test.each(partOf(searches, 0, 2))("%s", async (_what, training, defences, scheme) => {
    const rows = table;
    const job = { ...jobOf(training, rows, 2), defences, ...(scheme === undefined ? {} : { scheme }) };
    const space = spaceFromText(
      "eta=0.1..0.6 max_depth=1..4 subsample=0.6|1 colsample_bytree=0.4..1 lambda=0.1..5:log",
    );
    const trials = drawTrials(job.training, space, 4);
    const schedule = searchSchedule("halving", trials.length, job.training.num_round);
    const newTurns = (): TrialTurns => new TrialTurns(trials, schedule, rowsOf(rows), job.folds);
    const turns = newTurns();
    const wide = { ...job, training: { ...turns.whole, num_round: job.training.num_round } };
    const [stored, trees]: [Stored, Tree<ActiveRule>[]] = [new Stored(), []];
    for (const limits of [{ splitsMax: 1 }, { treesMax: 5 }, { splitsMax: 3 }])
      await expect(attempt(wide, turns, stored, trees, limits)).rejects.toThrow("breaks the connection");
    await attempt(wide, turns, stored, trees);

    const inOnePlace = newTurns();
    const noise = noiseIn({ ...ownJob(job), training: turns.whole });
    const membership = scheme?.membership ?? "sent";
    const bits = scheme?.plaintextBitsMax({}) ?? plaintextBitsMax(256);
    await growTrials(inOnePlace, {
      parties: job.binned,
      rows: rowsOf(rows),
      quantise: quantiserFor(codec, bits, noise, noise !== null || membership === "hidden"),
      membership,
      samplingSecrets: job.binned.map((_, party) => samplingSecret(party)),
      defences: defencesOf(job),
      noiseSecrets: job.binned.map((_, party) => noiseSecret(party)),
      folds: job.folds,
    });
    expect(turns.ranking).toEqual(inOnePlace.ranking);
    expect(turns.treesDone).toBe(inOnePlace.treesDone);
    const { trials: ranked, searched: names } = tuneOutcome(turns, trials, space, schedule, job.folds.length);
    expect(ranked.map(({ rungs }) => rungs)).toEqual([2, 2, 1, 1]);
    expect(
      ranked.slice(0, 2).map(({ trial }) => trial),
      "what was given stays to the end",
    ).toContain(0);
    expect(names).toEqual(["eta", "max_depth", "subsample", "colsample_bytree", "lambda"]);
    const owners = new Set(trees.flat().flatMap((node) => (node.kind === "split" ? [node.rule.owner] : [])));
    expect(owners.size, "every party has splits, or little was tested").toBe(3);
  });

  test("an active party that samples fewer columns than agreed, or other columns when it redoes a round", async () => {
    const job = jobOf({ num_round: 1, colsample_bytree: 0.6 }, table, 2);
    const turnsWith = (...rates: number[]): TrialTurns => {
      const trials = rates.map((rate) => ({ ...job.training, colsample_bytree: rate }));
      return new TrialTurns(trials, searchSchedule("random", rates.length, 1), rowsOf(table), job.folds);
    };
    const narrow = turnsWith(0.6, 0.3);
    const lying = Object.assign(narrow, { whole: { ...narrow.whole, colsample_bytree: 0.6 } });
    await expect(attempt(job, lying, new Stored(), [])).rejects.toThrow(
      /colsample_bytree of a round is 0.3, where 0.6 was agreed/,
    );
    const stored = new Stored();
    const first = turnsWith(0.8, 0.6);
    await expect(attempt(job, first, stored, [], { splitsMax: 0 })).rejects.toThrow("breaks the connection");
    await expect(attempt(job, turnsWith(0.7, 0.6), stored, [])).rejects.toThrow(/was begun with another sample/);
  });
});

test("a search between parties is one PSI and one job, and prints its cost first", async () => {
  const world = await worlds.train(1);
  const tuning = ["tune", "-c", world.configPath, "--trials", "2", "--folds", "2", "--yes"];
  const unasked = await tandemHere(...tuning.slice(0, -1), "--json", "--quiet");
  expect(unasked.exitCode).not.toBe(0);
  expect(unasked.stderr).toMatch(/16 trees.*no terminal to ask for confirmation\. Pass --yes/s);
  const found = await tandemHere(...tuning, "--json", "--explain-leakage");
  expect(found.exitCode, found.stderr).toBe(0);
  const [explained, tuned] = found.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { leakage: Leakage } & TuningResult & { report: string; price: TunePrice });
  expect(tuned.price).toMatchObject({ trees: 16, treesOfOne: 4, parties: ["shop0"] });
  expect(explained.leakage.of).toMatch(/a search of 2 trials of 2 folds/);
  for (const { events } of world.parties) {
    const ofSearch = events.filter((event) => "job" in event && event.job === tuned.job);
    expect(ofSearch.filter(({ type }) => type === "aligned")).toHaveLength(1);
    expect(ofSearch.filter(({ type }) => type === "passive-tree")).toHaveLength(16);
    expect(ofSearch.at(-1)).toMatchObject({ type: "job-ended", failure: null });
  }
  expect(tuned.trials).toHaveLength(2);
  expect(readFileSync(tuned.report, "utf8")).toContain("Parameter importance");
});

test("between parties: one PSI, one job, folds as in central training; the policy counts all trees", async () => {
  const world = await worlds.train(2);
  await world.activeConfig("grid");
  const command = ["cv", "-c", join(world.bank.folder, "active-grid.json"), "--folds", "3"];
  const run = await tandemHere(...command, "--json", "--quiet", "--explain-leakage");
  expect([run.stderr, run.exitCode]).toEqual(["", 0]);
  const [explained, result] = run.stdout
    .trim()
    .split("\n")
    .map(
      (line) =>
        JSON.parse(line) as { leakage: Leakage } & CrossValidationOutcome & {
            job: string;
            path: string;
            instances: number;
          },
    );
  expect(JSON.parse(readFileSync(result.path, "utf8"))).toMatchObject({ job: result.job, folds: result.folds });
  for (const { events } of world.parties) {
    const ofCv = events.filter((event) => "job" in event && event.job === result.job);
    expect(ofCv.filter(({ type }) => type === "aligned")).toHaveLength(1);
    expect(ofCv.filter(({ type }) => type === "passive-tree")).toHaveLength(12);
    expect(ofCv.at(-1)).toMatchObject({ type: "job-ended", failure: null });
  }
  const sampled = explained.leakage.parties[1].learns.find(({ name }) => name === "sampled");
  expect(sampled).toMatchObject({ atMost: 12 * 150, note: expect.stringContaining("3 folds") as string });

  // All parties' columns of the common ids in the common order; test rows are not needed here.
  const common = people
    .slice(25, 200)
    .map(({ id }) => id)
    .sort();
  const { training } = world.config.job;
  const rows = Array.from(splitRows(common.length, 0.25, training.seed).train, (row) => common[row]);
  expect(result.instances).toBe(rows.length);
  const files = await Promise.all(
    [world.bank, ...world.shops].map(({ folder }) => readCsvTable(join(folder, "data.csv"))),
  );
  const binned = files.map((file) => {
    const rowOf = new Map(file.columns[0].map((id, row) => [id, row]));
    return file.names
      .filter((name) => name !== "id" && name !== "outcome")
      .map((name) => {
        const column = numericColumn(file, columnIndex(file, name), new Set());
        return binFeature(
          name,
          Float32Array.from(rows, (id) => column[rowOf.get(id) ?? -1]),
          training.max_bin,
        );
      });
  });
  const labelOf = new Map(people.map(({ id, label }) => [id, label === "defaulter" ? 1 : 0]));
  const labels = Float64Array.from(rows, (id) => labelOf.get(id) ?? Number.NaN);
  const job: FoldJob = { table: { labels, parties: [] }, binned, training, folds: foldsOf(rows.length, 3) };
  const expectFolds = async (given: FoldJob, folds: unknown): Promise<void> => {
    const models = await centralisedFolds(given, 4);
    const expected = models.map(async ({ trainMargins }, fold) => {
      const monitor = new BoostingMonitor(
        training,
        new BoostingTask(training, new TrainingRows(labels, { validation: given.folds[fold] })),
      );
      return { train: await monitor.onTraining(trainMargins), test: await monitor.onValidation(trainMargins) };
    });
    expect(folds).toEqual(await Promise.all(expected));
  };
  await expectFolds(job, result.folds);

  const defences = { max_thresholds: 2, min_people_share: 0.03 };
  await world.activeConfig("few", { privacy: defences });
  const few = await tandemHere(
    "cv",
    "-c",
    join(world.bank.folder, "active-few.json"),
    "--folds",
    "3",
    "--json",
    "--quiet",
  );
  expect([few.stderr, few.exitCode]).toEqual(["", 0]);
  const { folds } = JSON.parse(few.stdout) as CrossValidationOutcome;
  await expectFolds({ ...job, defences }, folds);
  expect(folds).not.toEqual(result.folds);

  await world.start(world.shop, { policy: { max_trees: 11 } });
  await world.activeConfig("grid");
  const refused = await tandem(...command, "--quiet");
  expect(refused.stderr).toMatch(/num_round: 12 requested, at most 11 allowed.*POLICY/);
  expect((await tandemHere(...command, "--num-round", "3")).stderr).toContain(
    "--num-round cannot be combined with --config: set it in the config",
  );
});
