/**
 * The registry of models between real parties: an alias follows a promotion that all parties can score with, and a
 * passive party answers for the models that it allows, whatever an active party asks for.
 */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runPredict } from "../src/scoring/run-predict.ts";
import { Scorer } from "../src/scoring/scorer.ts";
import { readActiveShare } from "../src/store/share-files.ts";
import { modelCommand, registerCredit, registeredWorld, soon } from "./support/registered-models.ts";
import { expectError } from "./support/expect-error.ts";
import {
  predictionsIn,
  type TrainedWorld,
  TrainedWorlds,
  trainingPredictions,
  writeInput,
} from "./support/test-worlds.ts";

const worlds = new TrainedWorlds();

async function predict(world: TrainedWorld, named: string): Promise<Map<string, string>> {
  const output = join(world.bank.folder, "scores.csv");
  const input = writeInput(world, "in.csv", [...trainingPredictions(world).keys()]);
  await runPredict(world.config, { model: named, input, output, unknown: "refuse", onProgress: () => {} });
  return predictionsIn(output);
}

test("an alias is a model of the job, to the last bit, and follows promotion and rollback", async () => {
  const world = await registeredWorld(worlds, 2, { passive: { policy: { scoring_models: "registered" } } });
  const { bank, shops } = world;
  const [spring, summer] = ["spring", "summer"].map((job) => trainingPredictions(world, job));
  expect(await modelCommand(bank, "promote", "credit@1")).toMatch(
    /credit@champion is now credit@1, the model of job spring/,
  );
  expect(await predict(world, "credit@champion")).toEqual(spring);
  expect(await modelCommand(bank, "promote", "credit@2", "--as", "challenger")).toContain(
    "credit@challenger is now credit@2",
  );
  expect(await modelCommand(bank, "promote", "credit@challenger")).toContain("credit@champion is now credit@2");
  const promoted = await predict(world, "credit@champion");
  for (const [id, score] of summer) if (promoted.has(id)) expect(promoted.get(id)).toBe(score);
  expect(promoted).not.toEqual(spring);
  expect(await modelCommand(bank, "list")).toMatch(
    /version +alias +job +model +registered\n +credit@1 +spring +[0-9a-f]{12}.*\n +credit@2 +ch\S+, ch\S+ +summer/,
  );
  expect(await modelCommand(bank, "rollback", "credit@champion")).toContain("credit@champion is again credit@1");
  expect(await predict(world, "credit@champion")).toEqual(spring);
  expect(await modelCommand(bank, "rollback", "credit@champion")).toContain("nothing to roll back to");

  expect(await modelCommand(bank, "retire", "credit@1")).toContain("credit@1 is the champion");
  expect(await modelCommand(shops[0], "promote", "credit@1")).toContain(
    "aliases belong to the active party, and shop0",
  );
  await expectError(() => predict(world, "credit@other"), "MODEL_UNKNOWN", /it has (challenger|champion), /);
});

test("a promotion that one party cannot score with changes nothing", async () => {
  const world = await registeredWorld(worlds, 2);
  const { bank, shops, parties } = world;
  await modelCommand(bank, "promote", "credit@1");
  expect(await modelCommand(shops[1], "retire", "credit@2")).toContain("Retired credit@2");
  const before = readFileSync(join(bank.folder, "jobs", ".registry", "models.json"), "utf8");
  await expect.poll(() => predict(world, "credit@2").then(() => "", String), soon).toMatch(/shop1 has retired/);
  expect(await modelCommand(bank, "promote", "credit@2")).toMatch(
    /nothing was changed: shop1 cannot score with the model of job summer: shop1 has retired this model/,
  );
  await parties[1].stop();
  expect(await modelCommand(bank, "promote", "credit@2")).toMatch(/nothing was changed: shop1 cannot score/);
  expect(readFileSync(join(bank.folder, "jobs", ".registry", "models.json"), "utf8")).toBe(before);
  expect(await modelCommand(bank, "promote", "credit@2", "--without-asking")).toContain(
    "credit@champion is now credit@2",
  );
});

test("an active party that names any model gets answers for those only that the passive party allows", async () => {
  const world = await worlds.train(1, { passive: { policy: { scoring_models: "registered" } } });
  const { bank, shop } = world;
  const share = await readActiveShare(join(bank.folder, "jobs", "spring", "share.json"));
  const ask = async (): Promise<unknown> => {
    const scorer = await Scorer.connect(world.config, share);
    const columns = scorer.features.map(() => new Float32Array(1));
    const rows = { ids: [[...trainingPredictions(world).keys()][0]], columns };
    return scorer.score(rows, { unknownAsMissing: false, timeoutMs: 20_000 }).finally(() => scorer.close());
  };
  await expectError(ask, "POLICY", /the policy of shop0 allows registered models only. Ask shop0 to register this one/);
  await registerCredit(shop, "spring");
  await expect
    .poll(
      () =>
        ask().then(
          () => "a score",
          () => "an error",
        ),
      soon,
    )
    .toBe("a score");
  await modelCommand(shop, "retire", "credit@1");
  await expect.poll(() => ask().then(() => "", String), soon).toMatch(/shop0 has retired this model/);
  // A job that continues it would reveal its margins.
  const continued = { warm_start: { model: "spring" }, training: { num_round: 1 } };
  await expectError(() => world.train("continued", continued), "POLICY", /shop0 has retired this model/);
  // A registry that cannot be read allows nothing, and the other party does not learn why.
  const path = join(shop.folder, "jobs", ".registry", "models.json");
  const text = readFileSync(path, "utf8");
  writeFileSync(path, text.replace("spring", "autumn"));
  await expect.poll(() => ask().then(() => "", String), soon).toMatch(/shop0 has trouble with its own files/);
  writeFileSync(path, text);
  expect(await registerCredit(shop, "spring")).toContain("Registered credit@1");
  await expect.poll(() => ask().then(() => "a score", String), soon).toBe("a score");
  expect(JSON.stringify(world.parties[0].events)).toContain("models.json is damaged");
});

test("another file in the place of a registered share is not scored with", async () => {
  const world = await registeredWorld(worlds, 1);
  const jobs = join(world.bank.folder, "jobs");
  await modelCommand(world.bank, "promote", "credit@1");
  renameSync(join(jobs, "spring", "share.json"), join(jobs, "spring.json"));
  await expectError(() => predict(world, "credit@champion"), "FILE_UNREADABLE", /is the model of job spring.*missing/);
  writeFileSync(join(jobs, "spring", "share.json"), readFileSync(join(jobs, "summer", "share.json")));
  await expectError(() => predict(world, "credit@1"), "FILE_FORMAT", /has changed since it was registered/);
});

test("masked scores of a person are counted by model, whatever alias it was named with", async () => {
  const policy = { policy: { max_scores_per_person: 3 } };
  const world = await worlds.train(1, { active: { privacy: { masked_scoring: true } }, passive: policy });
  await registerCredit(world.bank, "spring");
  // It asks about no person; the job itself has counted one score of each.
  await modelCommand(world.bank, "promote", "credit@1");
  const first = await predict(world, "credit@champion");
  expect(await predict(world, "credit@1")).toEqual(first);
  await expectError(() => predict(world, "spring"), "POLICY", /max_scores_per_person/);
});
