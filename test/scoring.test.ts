/**
 * `tandem predict` between real parties over TLS: scores to the last bit, unknown ids, refusals, busy parties.
 */
import { cpSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { readCsvTable } from "../src/data/csv-table.ts";
import { columnIndex, numericColumn } from "../src/data/columns.ts";
import { BoostingTask } from "../src/gbdt/boost/boosting-task.ts";
import { refreshTrees } from "../src/gbdt/boost/refresh.ts";
import { valueGoesLeft } from "../src/gbdt/split/split-test.ts";
import { toPredictions, predictMargins } from "../src/gbdt/tree/predict.ts";
import { leafOf, type Tree } from "../src/gbdt/tree/tree.ts";
import { logTo } from "../src/record/log.ts";
import { type PredictOptions, runPredict } from "../src/scoring/run-predict.ts";
import { runRefresh } from "../src/scoring/run-refresh.ts";
import { mergeShares } from "../src/store/merge-shares.ts";
import { type ActiveShare, readActiveShare, readPassiveShare, writeActiveShare } from "../src/store/share-files.ts";
import { partOf } from "./support/campaign.ts";
import { tandemHere } from "./world/command-here.ts";
import { tandem } from "./world/tandem-process.ts";
import { type Company, foundCompany } from "./world/processes.ts";
import { expectError } from "./support/expect-error.ts";
import {
  people,
  predictionsIn,
  threeClasses,
  type TrainedWorld,
  TrainedWorlds,
  trainingPredictions,
  writeInput,
} from "./support/test-worlds.ts";
import { TrainingRows } from "../src/gbdt/rows/training-rows.ts";

const worlds = new TrainedWorlds();

async function predict(
  world: TrainedWorld,
  input: string,
  options: Partial<PredictOptions> = {},
): Promise<{ scores: Map<string, string>; result: Awaited<ReturnType<typeof runPredict>> }> {
  const output = join(world.bank.folder, "scores.csv");
  const result = await runPredict(world.config, {
    model: "spring",
    input,
    output,
    unknown: "refuse",
    onProgress: () => {},
    ...options,
  });
  return { scores: predictionsIn(output), result };
}

/** All companies' shares and columns together, which no party has: scores must equal its predictions. */
async function onePlaceScores(world: TrainedWorld, ids: readonly string[]): Promise<Map<string, string>> {
  const { model, columns } = await onePlace(world, ids);
  const scores = toPredictions(model, predictMargins(model, columns, ids.length));
  const { outputCount = 1 } = model;
  return new Map(ids.map((id, i) => [id, scores.subarray(i * outputCount, (i + 1) * outputCount).join(",")]));
}

async function onePlace({ bank, shops }: TrainedWorld, ids: readonly string[]) {
  const share = (company: Company): string => join(company.folder, "jobs", "spring", "share.json");
  const model = mergeShares(
    await readActiveShare(share(bank)),
    await Promise.all(shops.map((shop) => readPassiveShare(share(shop)))),
  );
  const columns = await Promise.all(
    [bank, ...shops].map(async ({ folder }) => {
      const file = await readCsvTable(join(folder, "data.csv"));
      const rowOf = new Map(file.columns[0].map((id, row) => [id, row]));
      const features = file.names
        .filter((name) => name !== "id" && name !== "outcome")
        .map((name) => numericColumn(file, columnIndex(file, name), new Set()));
      return features.map((feature) => Float32Array.from(ids, (id) => feature[rowOf.get(id) ?? -1] ?? Number.NaN));
    }),
  );
  return { model, columns };
}

const common = people.slice(25, 200).map(({ id }) => id);

describe("scores are the training-time model's to the last bit", () => {
  test.each([1, 2])("with %i passive parties: equal to the job's own and to the merged model's", async (shops) => {
    const world = await worlds.train(shops);
    const trained = trainingPredictions(world);
    expect(trained.size).toBeGreaterThan(40);
    const { scores } = await predict(world, writeInput(world, "held-back.csv", [...trained.keys()]));
    expect(scores).toEqual(trained);
    const all = await predict(world, writeInput(world, "all.csv", common));
    expect(all.scores).toEqual(await onePlaceScores(world, common));
    expect(new Set(all.scores.values()).size).toBeGreaterThan(20);
    expect(all.result).toMatchObject({ job: "spring", rows: common.length, scored: common.length, unknown: {} });
    expect(statSync(join(world.bank.folder, "scores.csv")).mode & 0o777).toBe(0o600);
  });

  test.each(partOf(["one_output_per_tree", "multi_output_tree"], 0, 2))(
    "the command, with a model of three classes (%s)",
    async (strategy) => {
      const world = await worlds.train(2, threeClasses(strategy));
      const trained = trainingPredictions(world);
      const output = join(world.bank.folder, "classes.csv");
      const score = async (ids: readonly string[]): Promise<Map<string, string>> => {
        const { stderr, exitCode } = await tandemHere(
          "predict",
          "-c",
          world.configPath,
          "--model",
          "spring",
          "--input",
          writeInput(world, "rows.csv", ids),
          "--output",
          output,
          "--json",
        );
        expect([stderr, exitCode]).toEqual(["", 0]);
        return predictionsIn(output);
      };
      expect(await score([...trained.keys()])).toEqual(trained);
      expect(readFileSync(output, "utf8").split("\n")[0]).toBe("id,prediction_0,prediction_1,prediction_2");
      const all = await score(common);
      expect(all).toEqual(await onePlaceScores(world, common));
      const likeliest = [...all.values()]
        .map((row) => row.split(",").map(Number))
        .map((row) => row.indexOf(Math.max(...row)));
      expect(new Set(likeliest).size).toBe(3);
    },
  );

  test("the command: a compressed file, many ids, columns that moved, and an id that arrives later", async () => {
    const world = await worlds.restarted(2, { policy: { max_scoring_ids: 7 } });
    const trained = trainingPredictions(world);
    const input = writeInput(world, "rows.csv", [...trained.keys()]);
    writeFileSync(`${input}.gz`, gzipSync(readFileSync(input)));
    const data = join(world.shops[0].folder, "data.csv");
    const lines = readFileSync(data, "utf8")
      .trim()
      .split("\n")
      .map((line) => line.split(","));
    const moved = [...lines.map(([id, a, b]) => [b, id, a]), [lines[1][2], "newcomer", lines[1][1]]];
    writeFileSync(data, `${moved.map((cells) => cells.join(",")).join("\n")}\n`);
    const output = join(world.bank.folder, "out.csv");
    const { stdout, stderr, exitCode } = await tandem(
      "predict",
      "-c",
      world.configPath,
      "--model",
      "spring",
      "--input",
      `${input}.gz`,
      "--output",
      output,
      "--json",
    );
    expect([stderr, exitCode]).toEqual(["", 0]);
    expect(JSON.parse(stdout)).toMatchObject({ job: "spring", rows: trained.size, scored: trained.size, unknown: {} });
    expect(predictionsIn(output)).toEqual(trained);
    const unpinned = await tandemHere(
      "predict",
      "-c",
      world.configPath,
      "--model",
      join(world.bank.folder, "jobs", "spring"),
      "--input",
      writeInput(world, "new.csv", ["newcomer"]),
      "--output",
      output,
    );
    expect(unpinned.exitCode).toBe(2);
    expect(unpinned.stderr).toMatch(
      /1 of its 1 ids are unknown to a passive party \(1 to shop1\), the first in line 2.*ID_UNKNOWN/,
    );
    expect(predictionsIn(output)).toEqual(trained); // what was there stays
  });

  test("while a training job runs, and the job is not disturbed", async () => {
    const world = await worlds.train(1);
    const [party] = world.parties;
    const job = world.train("long", { training: { num_round: 40 } });
    await party.seen("passive-tree", 6);
    const { scores } = await predict(world, writeInput(world, "all.csv", common));
    // The first job's, not yet this one's.
    expect(party.events.filter((event) => event.type === "job-ended")).toHaveLength(1);
    expect(scores).toEqual(await onePlaceScores(world, common));
    await job;
    expect(party.events.filter((event) => event.type === "job-ended").map(({ failure }) => failure)).toEqual([
      null,
      null,
    ]);
  });
});

describe("ids that a party does not hold", () => {
  test("are refused, left out, or scored with missing values, by option", async () => {
    const world = await worlds.restarted(2);
    // Id 10 is unknown to both shops, 22 to the second.
    const ids = [common[0], people[10].id, people[22].id, common[1]];
    const input = writeInput(world, "some.csv", ids);
    const error = await expectError(
      () => predict(world, input),
      "ID_UNKNOWN",
      /2 of its 4 ids are unknown to a passive party \(1 to shop0, 2 to shop1\), the first in line 3/,
    );
    expect(error.message).not.toMatch(/zq\d/);
    const skipped = await predict(world, input, { unknown: "skip" });
    const expected = await onePlaceScores(world, ids);
    expect([...skipped.scores]).toEqual([common[0], common[1]].map((id) => [id, expected.get(id)]));
    expect(skipped.result).toMatchObject({ rows: 4, scored: 2, unknown: { shop0: 1, shop1: 2 } });
    const missing = await predict(world, input, { unknown: "missing" });
    expect(missing.scores).toEqual(expected);
    expect(missing.result).toMatchObject({ scored: 4, unknown: { shop0: 1, shop1: 2 } });
  });
});

describe("permissions", () => {
  test("another active party cannot find out which models exist; an unknown peer gets no connection", async () => {
    const world = await worlds.restarted(1);
    const [shop] = world.shops;
    const holding = { people: people.slice(0, 200), columns: [0, 1] };
    const [rival, unpinned] = [
      await foundCompany(world.root, "rival", holding, "active"),
      await foundCompany(world.root, "unpinned", holding, "active"),
    ];
    const party = await world.start(shop, {}, { actives: [world.bank, rival] });
    const says: string[] = [];
    for (const thief of [rival, unpinned]) {
      cpSync(join(world.bank.folder, "jobs"), join(thief.folder, "jobs"), { recursive: true });
      world.config = await world.activeConfig("steal", {}, { active: thief });
      const work = (): Promise<unknown> => predict(world, writeInput(world, "all.csv", common));
      const error = await expectError(
        work,
        thief === rival ? "MODEL_UNKNOWN" : "CERTIFICATE",
        thief === rival
          ? /shop0 has no share of this model/
          : /shop0 answers, and does not know this party's certificate/,
      );
      says.push(error.message);
    }
    expect(party.events.find((event) => event.type === "refused")).toMatchObject({
      peer: "rival",
      code: "MODEL_UNKNOWN",
    });
    rmSync(join(shop.folder, "jobs", "spring"), { recursive: true });
    world.config = await world.activeConfig("gone");
    // The party notices within a second or so; until then it answers. One id each: a day has 10,000 of them.
    const one = writeInput(world, "one.csv", common.slice(0, 1));
    const untilItFails = async (): Promise<void> => {
      for (;;) await predict(world, one);
    };
    const error = await expectError(untilItFails, "MODEL_UNKNOWN");
    expect(error.message).toBe(says[0]);
  });

  test("a renamed active party: only the passive party's own log says why the model is unknown", async () => {
    const world = await worlds.restarted(1);
    const [shop] = world.shops;
    const party = await world.start(shop, {}, { actives: [{ ...world.bank, name: "newbank" }] });
    world.config = await world.activeConfig("renamed");
    const work = (): Promise<unknown> => predict(world, writeInput(world, "all.csv", common));
    const words = "shop0 has no share of this model that it made with this active party";
    expect((await expectError(work, "MODEL_UNKNOWN")).message).not.toContain("trained with");
    expect(await party.seen("refused")).toMatchObject({
      peer: "newbank",
      code: "MODEL_UNKNOWN",
      message: `${words}: it was trained with 'bank', which the config no longer names`,
    });
  });

  test("a damaged share counts as missing, and the party's own log names it", async () => {
    const world = await worlds.restarted(1);
    const share = join(world.shops[0].folder, "jobs", "spring", "share.json");
    writeFileSync(share, readFileSync(share, "utf8").replace("threshold", "treshold"));
    await expectError(() => predict(world, writeInput(world, "all.csv", common)), "MODEL_UNKNOWN");
    expect(world.parties[0].events.find((event) => event.type === "error")).toMatchObject({
      code: "FILE_FORMAT",
      message: expect.stringContaining(share) as string,
    });
  });

  test("a policy that does not allow scoring", async () => {
    const world = await worlds.restarted(1, { policy: { scoring: false } });
    await expectError(
      () => predict(world, writeInput(world, "all.csv", common)),
      "POLICY",
      /policy of shop0 does not allow scoring/,
    );
  });

  test.each([
    [
      "a model that is not there",
      { model: "autumn" },
      "MODEL_UNKNOWN",
      /neither a finished job in .*jobs nor a folder/,
    ],
    ["an input that is not there", { input: "nowhere.csv" }, "FILE_UNREADABLE", /nowhere/],
  ] as const)("%s", async (_what, options, code, says) => {
    const world = await worlds.restarted(1);
    await expectError(() => predict(world, writeInput(world, "all.csv", common), options), code, says);
  });

  test("an input without a column of the model, and a config without a party of it", async () => {
    const world = await worlds.restarted(2);
    const input = writeInput(world, "all.csv", common);
    writeFileSync(input, readFileSync(input, "utf8").replace("bank_1", "bank_11"));
    await expectError(() => predict(world, input), "COLUMN_UNKNOWN", /no column 'bank_1'; did you mean 'bank_/);
    world.config = await world.activeConfig("fewer", {}, { passives: world.shops.slice(1) });
    await expectError(
      () => predict(world, writeInput(world, "all.csv", common)),
      "USAGE",
      /trained with shop0, which is not among the 'passives'/,
    );
  });
});

test("the passive party logs who scored how many ids, and no id", async () => {
  const world = await worlds.restarted(1);
  await predict(world, writeInput(world, "all.csv", [...common, people[5].id]), { unknown: "skip" });
  await predict(world, writeInput(world, "all.csv", common));
  const [party] = world.parties;
  await party.stop();
  const scored = party.events.filter((event) => event.type === "scored");
  expect(
    scored.map(({ peer, job, requestCount, idCount, unknownCount }) => ({
      peer,
      job,
      requestCount,
      idCount,
      unknownCount,
    })),
  ).toEqual([
    { peer: "bank", job: "spring", requestCount: 1, idCount: common.length + 1, unknownCount: 1 },
    { peer: "bank", job: "spring", requestCount: 1, idCount: common.length, unknownCount: 0 },
  ]);
  let text = "";
  for (const event of party.events)
    logTo({ level: "debug", terminal: false, write: (more) => (text += more), now: () => new Date(0) })(event);
  expect(text).toContain('"event":"scored"');
  expect(text).not.toMatch(/zq\d/);
});

test("refreshed leaves equal the centralised ones, the splits stay, and the refreshed model scores", async () => {
  const world = await worlds.restarted(1);
  const { bank } = world;
  const labelOf = new Map(people.map(({ id, label }) => [id, label]));
  const ids = common.slice(0, 90);
  const unknown = people.slice(0, 3).map(({ id }) => id);
  const input = join(bank.folder, "later.csv");
  const [head, ...lines] = readFileSync(writeInput(world, "later-input.csv", [...unknown, ...ids]), "utf8")
    .trim()
    .split("\n");
  const labelled = lines.map((line) => `${line},${labelOf.get(line.split(",")[2]) ?? ""}`);
  writeFileSync(input, `${[`${head},outcome`, ...labelled].join("\n")}\n`);
  const options = { model: "spring", input, job: "autumn", refreshLeaf: true, onProgress: () => {} };
  await expectError(() => runRefresh(world.config, { ...options, unknown: "refuse" }), "ID_UNKNOWN", /3 of its 93 ids/);
  const result = await runRefresh(world.config, { ...options, unknown: "skip" });
  expect(result).toMatchObject({ rows: 93, used: 90, unknown: { shop0: 3 }, from: "spring" });
  expect(result.metrics.after).not.toEqual(result.metrics.before);

  const { model, columns } = await onePlace(world, ids);
  const labels = Float64Array.from(ids, (id) => (labelOf.get(id) === "defaulter" ? 1 : 0));
  const task = new BoostingTask(world.config.job.training, new TrainingRows(labels));
  const leavesOf = (tree: number): Uint32Array =>
    Uint32Array.from(ids, (_, row) =>
      leafOf(model.trees[tree], (rule) => valueGoesLeft(rule, columns[rule.owner][rule.feature][row])),
    );
  const { trees } = refreshTrees(model, task, world.config.job.training, leavesOf);
  const [before, after] = await Promise.all(
    ["spring", "autumn"].map((job) => readActiveShare(join(bank.folder, "jobs", job, "share.json"))),
  );
  const withoutRules = (all: readonly Tree<unknown>[]): unknown =>
    all.map((tree) => tree.map((node) => (node.kind === "leaf" ? node : { ...node, rule: null })));
  expect(withoutRules(after.trees)).toEqual(withoutRules(trees));
  expect(after.model).toBe(before.model);
  const rulesOf = (all: ActiveShare): unknown => all.trees.flat().map((node) => node.kind === "split" && node.rule);
  expect(rulesOf(after)).toEqual(rulesOf(before));
  const { scores } = await predict(world, input, { model: "autumn", unknown: "skip" });
  const margins = predictMargins({ ...model, trees }, columns, ids.length);
  expect([...scores.values()]).toEqual([...toPredictions(model, margins)].map(String));

  await expectError(
    () => runRefresh(world.config, { ...options, unknown: "skip" }),
    "USAGE",
    /has a model already; name the refreshed one differently/,
  );

  const dropped = join(bank.folder, "jobs", "dropped");
  mkdirSync(dropped);
  await writeActiveShare(join(dropped, "share.json"), { ...before, treeWeights: before.trees.map(() => 0.5) });
  await expectError(
    () => runRefresh(world.config, { ...options, model: "dropped", job: "winter", unknown: "skip" }),
    "USAGE",
    /was trained with booster dart.* cannot be refreshed/,
  );
});
