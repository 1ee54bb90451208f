/** Masked scoring between real parties over TLS: the plain scores to the last bit, and no party learns an outcome. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { resolveParameters, servingParameters } from "../src/base/parameters/parameters.ts";
import { startServer } from "../src/scoring/http/run-serve.ts";
import { type PredictOptions, runPredict } from "../src/scoring/run-predict.ts";
import { Scorer } from "../src/scoring/scorer.ts";
import { readActiveShare, readPassiveShare } from "../src/store/share-files.ts";
import { partOf } from "./support/campaign.ts";
import { tandemHere } from "./world/command-here.ts";
import type { ActiveChanges } from "./world/processes.ts";
import { expectError } from "./support/expect-error.ts";
import {
  people,
  predictionsIn,
  threeClasses,
  type TrainedWorld,
  TrainedWorlds,
  trainingPredictions,
  type WorldChanges,
  writeInput,
} from "./support/test-worlds.ts";

const worlds = new TrainedWorlds();
const training = { num_round: 4, max_depth: 3, max_bin: 8 };
const masked: ActiveChanges = { privacy: { masked_scoring: true } };
const maskedWorld = (shops: number, { active, ...changes }: WorldChanges = {}): Promise<TrainedWorld> =>
  worlds.train(shops, { ...changes, active: { training, ...active, ...masked } });

async function predict(
  world: TrainedWorld,
  ids: readonly string[],
  options: Partial<PredictOptions> = {},
): Promise<Map<string, string>> {
  const output = join(world.bank.folder, "scores.csv");
  const input = writeInput(world, "in.csv", ids);
  await runPredict(world.config, {
    model: "spring",
    input,
    output,
    unknown: "refuse",
    onProgress: () => {},
    ...options,
  });
  return predictionsIn(output);
}

const sharePath = (folder: string): string => join(folder, "jobs", "spring", "share.json");
const common = people.slice(30, 200).map(({ id }) => id);
/** Ids 0 to 19 are unknown to every shop, 20 to 24 to the second. */
const some = [people[40].id, people[10].id, people[22].id, people[41].id];

describe("scores are the plain ones to the last bit", () => {
  test.each(partOf([1, 3], 0, 2))(
    "%i passive parties: of the job's test rows, of all common ids, and of unknown ids",
    async (shops) => {
      const plain = await worlds.train(shops);
      const world = await maskedWorld(shops);
      const trained = trainingPredictions(world);
      expect(trained.size).toBeGreaterThan(40);
      expect(trained).toEqual(trainingPredictions(plain));
      const scores = await predict(world, common);
      expect(scores).toEqual(await predict(plain, common));
      for (const [id, score] of trained) if (scores.has(id)) expect(scores.get(id)).toBe(score);
      for (const unknown of shops === 1 ? (["skip", "missing"] as const) : (["missing"] as const))
        expect(await predict(world, some, { unknown })).toEqual(await predict(plain, some, { unknown }));
      await expectError(() => predict(world, some), "ID_UNKNOWN", /[12] of its 4 ids are unknown/);
      const shares = await Promise.all(world.shops.map(({ folder }) => readPassiveShare(sharePath(folder))));
      expect(shares.map(({ maskedScoring }) => maskedScoring)).toEqual(shares.map(() => true));
      expect(readFileSync(sharePath(plain.shops[0].folder), "utf8")).not.toContain("maskedScoring");
      const scored = world.parties[0].events.filter((event) => event.type === "scored");
      await Promise.all(world.parties.map((party) => party.stop()));
      expect(scored.length).toBeGreaterThan(0);
      const ledgers = world.parties[0].events.flatMap((event) => (event.type === "ledger" ? [event.ledger] : []));
      expect(ledgers.at(-1)).toMatchObject({ predictionOutcomes: 0, maskedScores: trained.size });
    },
  );

  test.each(partOf(["one_output_per_tree", "multi_output_tree"], 1, 2))(
    "the command, three classes (%s)",
    async (strategy) => {
      const world = await maskedWorld(2, threeClasses(strategy));
      const trained = trainingPredictions(world);
      expect(trained).toEqual(trainingPredictions(await worlds.train(2, threeClasses(strategy))));
      const output = join(world.bank.folder, "classes.csv");
      const input = writeInput(world, "rows.csv", [...trained.keys()]);
      const files = ["--input", input, "--output", output, "--json"];
      const { stderr, exitCode } = await tandemHere("predict", "-c", world.configPath, "--model", "spring", ...files);
      expect([stderr, exitCode]).toEqual(["", 0]);
      expect(predictionsIn(output)).toEqual(trained);
    },
  );
});

test("serving, in batches that a party's limit makes, before and after it restarts", async () => {
  const world = await maskedWorld(2);
  const trained = trainingPredictions(world);
  const ids = [...trained.keys()];
  const limited = {
    listen: { host: "127.0.0.1", port: world.parties[0].port },
    policy: { max_scoring_ids: 7 },
  };
  await world.parties[0].stop();
  const party = await world.start(world.shops[0], limited);
  const options = {
    model: "spring",
    host: "127.0.0.1",
    port: 0,
    token: null,
    insecureWithoutToken: false,
    unknownAsMissing: false,
    version: "0",
    parameters: resolveParameters(servingParameters, { timeout_ms: 20_000 }),
  };
  const server = await startServer(world.config, options, () => {});
  onTestFinished(() => server.close());
  const url = `http://127.0.0.1:${server.port}`;
  const post = async (some: readonly string[]): Promise<Map<string, string>> => {
    const response = await fetch(`${url}/predict`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ids: some }),
    });
    const { predictions } = (await response.json()) as { predictions: { id: string; prediction: number }[] };
    return new Map(predictions.map(({ id, prediction }) => [id, String(prediction)]));
  };
  expect(await post(ids)).toEqual(trained);
  const together = await Promise.all(ids.slice(0, 20).map((id) => post([id])));
  expect(new Map(together.flatMap((one) => [...one]))).toEqual(new Map([...trained].slice(0, 20)));
  expect((await fetch(`${url}/ready`)).status).toBe(200);
  await party.stop();
  const waiting = post(ids);
  await world.start(world.shops[0], limited);
  expect(await waiting).toEqual(trained);
  expect((await fetch(`${url}/ready`)).status).toBe(200);
  expect(await post(ids)).toEqual(trained);
  const metrics = await (await fetch(`${url}/metrics`)).text();
  expect(metrics).toMatch(/tandem_batches_total\{model="spring",party="shop1",result="answered"\} \d+/);
});

test("own contributions are those of plain scoring, and ask the passive party for nothing but scores", async () => {
  const explained = async (world: TrainedWorld): Promise<string> => {
    await predict(world, common, { wanted: { kind: "own_contributions", iterations: { begin: 0, end: 0 } } });
    return readFileSync(join(world.bank.folder, "scores.csv"), "utf8");
  };
  const world = await maskedWorld(1);
  const own = await explained(world);
  expect(own).toBe(await explained(await worlds.train(1, { active: { training } })));
  expect(own).toMatch(/^id,(bank_\d,)+others,bias\n/);
  const wanted = { kind: "contributions", iterations: { begin: 0, end: 0 } } as const;
  await expectError(() => predict(world, common, { wanted }), "USAGE", /masked_scoring.*Ask for own_contributions/);
  await world.parties[0].stop();
  const { events } = world.parties[0];
  expect(events.filter(({ type }) => type === "explained")).toEqual([]);
  const asked = events.flatMap((event) => (event.type === "scored" ? [event.idCount] : []));
  expect(asked.reduce((sum, count) => sum + count, 0)).toBe(common.length);
});

test("noise in scores: recorded in shares, drawn for every question, and kept by both sides", async () => {
  const privacy = { masked_scoring: true, score_noise: 0.02 };
  const world = await worlds.train(1, { active: { training, privacy } });
  const [shop] = world.shops;
  const share = await readActiveShare(sharePath(world.bank.folder));
  expect(share.scoreNoise).toBe(0.02);
  expect((await readPassiveShare(sharePath(shop.folder))).scoreNoise).toBe(0.02);
  const ask = async (scoreNoise: number | undefined, id = common[0]): Promise<number> => {
    const scorer = await Scorer.connect(world.config, { ...share, scoreNoise });
    onTestFinished(() => scorer.close());
    const columns = scorer.features.map(() => Float32Array.of(0));
    const { predictions } = await scorer.score({ ids: [id], columns }, { unknownAsMissing: false, timeoutMs: 10_000 });
    return predictions[0];
  };
  const [one, two] = [await ask(0.02), await ask(0.02)];
  expect(one).not.toBe(two);
  expect(Math.abs(one - two)).toBeLessThan(0.3);
  // An active party that leaves the noise out of its own share does not get exact scores: it misreads noisy ones.
  expect(await ask(undefined)).not.toBe(await ask(undefined));
  const on = (job: string, changes: ActiveChanges) => world.train(job, { training, ...changes });
  const start = { warm_start: { model: "spring" } };
  await expectError(() => on("later", { ...start, ...masked }), "POLICY", /shop0 made it with score_noise/);
  await expectError(() => on("later", { ...start, privacy }), "USAGE", /warm start: score_noise/);
  await expectError(() => on("plain", { privacy: { score_noise: 0.02 } }), "FILE_FORMAT", /needs masked_scoring/);

  const listen = { host: "127.0.0.1", port: world.parties[0].port };
  await world.start(shop, { listen, policy: { privacy: { score_noise: 0.05 } } });
  await expectError(() => ask(0.02), "POLICY", /requires score_noise 0.05, and this model has 0.02/);
});

test("a person's masked scores are limited per model, also after a restart and by test rows", async () => {
  const world = await maskedWorld(1, { passive: { policy: { max_scores_per_person: 3 } } });
  const share = await readActiveShare(sharePath(world.bank.folder));
  const ask = async (id: string): Promise<void> => {
    const scorer = await Scorer.connect(world.config, share);
    onTestFinished(() => scorer.close());
    const columns = scorer.features.map(() => Float32Array.of(0));
    await scorer.score({ ids: [id], columns }, { unknownAsMissing: false, timeoutMs: 10_000 });
  };
  const predicted = trainingPredictions(world);
  const tested = common.find((id) => predicted.has(id)) ?? "";
  const other = common.find((id) => !predicted.has(id)) ?? "";
  await ask(tested);
  await ask(other);
  const listen = { host: "127.0.0.1", port: world.parties[0].port };
  await world.start(world.shops[0], { listen, policy: { max_scores_per_person: 3 } });
  await ask(tested);
  await ask(other);
  await ask(other);
  const refusal = /policy of shop0 allows 3 masked scores of a person with one model/;
  await expectError(() => ask(tested), "POLICY", refusal); // the job's prediction was the first
  await expectError(() => ask(other), "POLICY", refusal);
});

test("outcomes are refused: to plain scoring, to a warm start without masking, and by policy", async () => {
  const world = await maskedWorld(1);
  const [shop] = world.shops;
  const share = await readActiveShare(sharePath(world.bank.folder));
  expect(share.maskedScoring).toBe(true);
  const ask = async (isMasked: boolean): Promise<void> => {
    const scorer = await Scorer.connect(world.config, isMasked ? share : { ...share, maskedScoring: undefined });
    onTestFinished(() => scorer.close());
    const columns = scorer.features.map(() => Float32Array.of(0));
    await scorer.score({ ids: [common[0]], columns }, { unknownAsMissing: false, timeoutMs: 10_000 });
  };
  await ask(true);
  await expectError(() => ask(false), "POLICY", /shop0 scores with this model by masked scoring only/);
  const on = (changes: ActiveChanges, job: string) =>
    world.train(job, { training: { num_round: 1 }, warm_start: { model: "spring" }, ...changes });
  await expectError(() => on({}, "plainly"), "POLICY", /shop0 made it with masked_scoring/);
  await on(masked, "summer");
  expect((await readPassiveShare(join(shop.folder, "jobs", "summer", "share.json"))).maskedScoring).toBe(true);

  const listen = { host: "127.0.0.1", port: world.parties[0].port };
  await world.start(shop, { listen, policy: { scoring: false } });
  await expectError(() => ask(true), "POLICY", /does not allow scoring/);
  await world.start(shop, { listen, output: { directory: "elsewhere" } });
  await expectError(() => ask(true), "MODEL_UNKNOWN", /shop0 has no share of this model/);
});
