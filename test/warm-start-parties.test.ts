/** Warm starts between companies over TLS: results, and what each party refuses. */
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readPassiveConfig } from "../src/party/config/config.ts";
import { exportModel } from "../src/party/model/export-model.ts";
import { prepareConsent } from "../src/party/model/give-consent.ts";
import { runActive } from "../src/party/active/run.ts";
import { runPredict } from "../src/scoring/run-predict.ts";
import { simulate } from "../src/simulate/simulate.ts";
import { readActiveShare, readPassiveShare } from "../src/store/share-files.ts";
import { scratchDirectory, writeLoanTable } from "./support/command.ts";
import { tandemHere } from "./world/command-here.ts";
import type { ActiveChanges, Company } from "./world/processes.ts";
import { expectError } from "./support/expect-error.ts";
import { predictionsIn, TrainedWorlds, trainingPredictions, writeInput } from "./support/test-worlds.ts";

const root = scratchDirectory();
const worlds = new TrainedWorlds();
const rounds = (num_round: number): ActiveChanges => ({
  training: { num_round, max_depth: 2, max_bin: 8, colsample_bytree: 0.7 },
});
const sharePath = ({ folder }: Company, job: string): string => join(folder, "jobs", job, "share.json");

/** The columns in the opposite order; the id stays in front. */
function reverseColumns({ folder }: Company): void {
  const path = join(folder, "data.csv");
  const lines = readFileSync(path, "utf8")
    .trim()
    .split("\n")
    .map((line) => line.split(","));
  writeFileSync(path, `${lines.map(([id, ...cells]) => [id, ...cells.reverse()].join(",")).join("\n")}\n`);
}

describe("a warm start", () => {
  test("equals one uninterrupted job; it scores, consents and exports like any other", async () => {
    const world = await worlds.train(2, { active: rounds(2) });
    const { bank, shops } = world;
    await world.train("whole", rounds(4));
    const config = await world.activeConfig("summer", { ...rounds(2), warm_start: { model: "spring" } });
    const events: string[] = [];
    await runActive(config, (event) => events.push(JSON.stringify(event)));

    const [spring, whole, summer] = await Promise.all(
      ["spring", "whole", "summer"].map((job) => readActiveShare(sharePath(bank, job))),
    );
    expect(summer.trees).toEqual(whole.trees);
    expect(new Set([spring, whole, summer].map(({ model }) => model)).size).toBe(3);
    for (const shop of shops) {
      const [inOneGo, after] = await Promise.all(
        ["whole", "summer"].map((job) => readPassiveShare(sharePath(shop, job))),
      );
      expect(after.splits).toEqual(inOneGo.splits);
      expect(after.model).toBe(summer.model);
    }
    const remoteIn = (trees: typeof summer.trees): number =>
      trees.flat().filter((node) => node.kind === "split" && node.rule.owner > 0).length;
    for (const trees of [spring.trees, summer.trees.slice(2)]) expect(remoteIn(trees)).toBeGreaterThan(0);
    expect(events.find((event) => event.includes('"type":"job"'))).toContain(`"warm_start":"${spring.model}"`);
    expect(
      events
        .filter((event) => event.includes('"type":"tree"'))
        .map((event) => (JSON.parse(event) as { tree: number; treeCount: number }).tree),
    ).toEqual([2, 3]);

    // Each party sees its part of the whole model, not only of the added trees.
    const seen = ({ folder }: Company, kind: string): { tree: number; splits?: unknown[] }[] =>
      readFileSync(join(folder, "jobs", "summer", "own.jsonl"), "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as { kind: string; tree: number })
        .filter((own) => own.kind === kind);
    expect(seen(bank, "tree").map(({ tree }) => tree)).toEqual([0, 1, 2, 3]);
    for (const shop of shops) {
      const { splits } = await readPassiveShare(sharePath(shop, "summer"));
      expect(seen(shop, "own-splits").map(({ tree }) => tree)).toEqual([0, 1, 2, 3]);
      expect(seen(shop, "own-splits").flatMap((own) => own.splits)).toEqual(splits);
    }

    const trained = trainingPredictions(world, "summer");
    expect(trained).toEqual(trainingPredictions(world, "whole"));
    const output = join(bank.folder, "scores.csv");
    await runPredict(config, {
      model: "summer",
      input: writeInput(world, "in.csv", [...trained.keys()]),
      output,
      unknown: "refuse",
      onProgress: () => {},
    });
    expect(predictionsIn(output)).toEqual(trained);

    const consents = await Promise.all(
      shops.map(async (shop) => {
        const { write, path } = await prepareConsent(await readPassiveConfig(join(shop.folder, "passive.json")), {
          job: "summer",
          recipient: "bank",
          purpose: "a test",
          tandemVersion: "0",
          now: new Date(),
        });
        await write();
        return path;
      }),
    );
    expect(await exportModel(config, { job: "summer", consents, out: join(bank.folder, "model.json") })).toMatchObject({
      treeCount: 4,
      model: summer.model,
    });
  });

  test("finds features and parties by name, in any order; and the model by its id", async () => {
    const world = await worlds.train(2, { active: rounds(2) });
    for (const company of [world.bank, ...world.shops]) reverseColumns(company);
    const turned = { passives: world.shops.toReversed() };
    const { model } = await readActiveShare(sharePath(world.bank, "spring"));
    await world.train("summer", { training: { num_round: 1 }, warm_start: { model } }, turned);
    const [spring, summer] = await Promise.all(
      ["spring", "summer"].map((job) => readActiveShare(sharePath(world.bank, job))),
    );
    expect(summer.passiveNames).toEqual(["shop1", "shop0"]);
    expect(summer.trees).toHaveLength(3);
    const owned = (share: typeof spring): string[] =>
      share.trees
        .slice(0, 2)
        .flat()
        .flatMap((node) =>
          node.kind === "leaf"
            ? []
            : ["featureName" in node.rule ? node.rule.featureName : share.passiveNames[node.rule.owner - 1]],
        );
    expect(owned(summer)).toEqual(owned(spring));
    expect(new Set(owned(spring)).size).toBeGreaterThan(2);
    const trained = trainingPredictions(world, "summer");
    const output = join(world.bank.folder, "scores.csv");
    const config = await world.activeConfig("summer", {}, turned);
    await runPredict(config, {
      model: "summer",
      input: writeInput(world, "in.csv", []).replace("in.csv", "data.csv"),
      output,
      unknown: "skip",
      onProgress: () => {},
    });
    for (const [id, score] of trained) expect(predictionsIn(output).get(id)).toBe(score);
  });
});

test("a party refuses models of which it has no share, models of others, missing features, and by policy", async () => {
  const world = await worlds.train(1, { active: rounds(2) });
  const { shop } = world;
  const on = (job: string, changes: ActiveChanges = {}) =>
    world.train(job, { warm_start: { model: "spring" }, ...changes });

  await expectError(
    () => on("a", { warm_start: { model: "winter" } }),
    "MODEL_UNKNOWN",
    /^there is no model 'winter': neither a finished job in .* nor a folder with a share\.json$/,
  );
  await expectError(
    () =>
      on("b", {
        training: { objective: "reg:squarederror" },
        data: { path: "data.csv", id: "id", features: ["bank_0", "bank_1"], label: "bank_0" },
      }),
    "COLUMN_SHARED",
  );
  await expectError(() => on("b", { training: { base_score: 0.1 } }), "USAGE", /warm start: base_score is 0\.1/);
  await expectError(
    () => on("c", { data: { path: "data.csv", id: "id", features: ["bank_1"], label: "outcome" } }),
    "COLUMN_UNKNOWN",
    /warm start: the data has no feature 'bank_0'/,
  );
  const renamed = await world.activeConfig("d", { warm_start: { model: "spring" } });
  await expectError(
    () =>
      runActive({ ...renamed, passives: renamed.passives.map((passive) => ({ ...passive, name: "kiosk" })) }, () => {}),
    "USAGE",
    /was trained with shop0, which is not among the 'passives'/,
  );
  await expectError(
    () =>
      runActive(
        {
          ...renamed,
          passives: [...renamed.passives, { ...renamed.passives[0], name: "kiosk", fingerprint: ["0".repeat(64)] }],
        },
        () => {},
      ),
    "USAGE",
    /was trained without kiosk/,
  );

  const away = join(shop.folder, "away.json");
  renameSync(sharePath(shop, "spring"), away);
  await expectError(() => on("e"), "MODEL_UNKNOWN", /shop0 has no share of the start model/);
  renameSync(away, sharePath(shop, "spring"));
  const { splits } = await readPassiveShare(sharePath(shop, "spring"));
  const data = readFileSync(join(shop.folder, "data.csv"), "utf8");
  writeFileSync(join(shop.folder, "data.csv"), data.replace(splits[0].featureName, "other"));
  const error = await expectError(() => on("f"), "COLUMN_UNKNOWN", /shop0 has trouble with its own files/);
  expect(error.message).not.toContain(splits[0].featureName);
  writeFileSync(join(shop.folder, "data.csv"), data);

  await world.start(shop, { policy: { warm_start: false } });
  await expectError(() => on("g"), "POLICY", /start_model: going on from an earlier model is not allowed/);
});

test("simulate: an earlier job in the same folder, by the command, equal to centralised", async () => {
  const table = join(root, "loans.csv");
  writeLoanTable(table, 160);
  const records = join(root, "records");
  const common = {
    data: table,
    id: "id",
    label: "defaulted",
    active: ["income", "debt", "age"],
    passives: [["visits", "basket"]],
    testFraction: 0.25,
    missing: [],
    check: false,
    onEvent: () => {},
  };
  await simulate({
    ...common,
    job: { training: { num_round: 2, subsample: 0.8 }, insecureKeyBits: 256 },
    keep: { directory: records, job: "first" },
  });
  const flags = [
    "--data",
    table,
    "--id",
    "id",
    "--label",
    "defaulted",
    "--active",
    "income,debt,age",
    "--passive",
    "visits,basket",
    "--insecure-key-bits",
    "256",
    "--num-round",
    "1",
    "--subsample",
    "0.8",
    "--check",
    "--json",
    "--quiet",
    "--warm-start",
    "first",
  ];
  const { stdout, exitCode, stderr } = await tandemHere("simulate", ...flags, "--records", records);
  expect(exitCode, stderr).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    trees: 3,
    identicalToCentralised: true,
    job: expect.stringMatching(/^simulate-\d{8}-\d{6}$/) as string,
  });
  const without = await tandemHere("simulate", ...flags);
  expect(without.stderr).toMatch(/--warm-start needs --records/);
  const unknown = await tandemHere("simulate", ...flags, "--records", records, "--warm-start", "elsewhere/active");
  expect(unknown.stderr).toMatch(
    /there is no simulation 'elsewhere\/active' in .*; there are: 'simulate-\d{8}-\d{6}', 'first' \(MODEL_UNKNOWN\)/,
  );
  rmSync(records, { recursive: true });
});
