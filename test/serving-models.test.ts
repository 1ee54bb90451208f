/** `tandem serve` with a registry: promotions without a restart, several models, and shadow scoring. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { resolveParameters, servingParameters } from "../src/base/parameters/parameters.ts";
import { type ServeOptions, startServer } from "../src/scoring/http/run-serve.ts";
import type { ShadowLine } from "../src/scoring/http/shadow.ts";
import type { PartyEvent } from "../src/record/events.ts";
import { readActiveShare } from "../src/store/share-files.ts";
import { expectError } from "./support/expect-error.ts";
import { modelCommand, registerCredit, registeredWorld, soon } from "./support/registered-models.ts";
import { type TrainedWorld, TrainedWorlds, trainingPredictions } from "./support/test-worlds.ts";

const worlds = new TrainedWorlds();

async function serve(world: TrainedWorld, options: Partial<Omit<ServeOptions, "parameters">> = {}) {
  const events: PartyEvent[] = [];
  const all: ServeOptions = {
    model: "credit@champion",
    host: "127.0.0.1",
    port: 0,
    token: null,
    insecureWithoutToken: false,
    unknownAsMissing: false,
    version: "0",
    parameters: resolveParameters(servingParameters, { timeout_ms: 20_000 }),
    ...options,
  };
  const server = await startServer(world.config, all, (event) => events.push(event));
  onTestFinished(() => server.close());
  return { url: `http://127.0.0.1:${server.port}`, events, close: () => server.close() };
}

interface Answer {
  readonly status: number;
  readonly model: string;
  readonly scores: ReadonlyMap<string, string>;
}

async function post(url: string, ids: readonly string[]): Promise<Answer> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ids }),
  });
  const body = (await response.json()) as { model: string; predictions?: { id: string; prediction: number }[] };
  const scores = new Map((body.predictions ?? []).map(({ id, prediction }) => [id, String(prediction)]));
  return { status: response.status, model: body.model, scores };
}

const modelIds = ({ bank }: TrainedWorld): Promise<string[]> =>
  Promise.all(
    ["spring", "summer"].map(
      async (job) => (await readActiveShare(join(bank.folder, "jobs", job, "share.json"))).model,
    ),
  );

test("a promotion is served without a restart, and no answer is of two models", async () => {
  const world = await registeredWorld(worlds, 2);
  const { bank, shops } = world;
  await modelCommand(bank, "promote", "credit@1");
  const [spring, summer] = await modelIds(world);
  const ids = [...trainingPredictions(world).keys()];
  const reference = await serve(world, { model: "spring", more: ["summer"] });
  const scores = new Map([
    [spring, (await post(`${reference.url}/predict`, ids)).scores],
    [summer, (await post(`${reference.url}/models/summer/predict`, ids)).scores],
  ]);
  expect(scores.get(spring)).toEqual(trainingPredictions(world));
  expect(scores.get(summer)).not.toEqual(scores.get(spring));

  const { url, events } = await serve(world);
  const some = ids.slice(0, 3); // the day's budget of ids is not what is tested
  const over = new AbortController();
  const seen = new Set<string>();
  const asking = Array.from({ length: 2 }, async () => {
    while (!over.signal.aborted) {
      const { status, model, scores: given } = await post(`${url}/predict`, some);
      expect(status).toBe(200);
      for (const id of some) expect(given.get(id)).toBe(scores.get(model)?.get(id));
      seen.add(model);
    }
  });
  const servedNow = async (): Promise<string> => (await post(`${url}/predict`, some)).model;
  expect(await servedNow()).toBe(spring);
  await modelCommand(bank, "promote", "credit@2");
  await expect.poll(servedNow, soon).toBe(summer);
  await modelCommand(bank, "rollback", "credit@champion");
  await expect.poll(servedNow, soon).toBe(spring);
  over.abort();
  await Promise.all(asking);
  expect([...seen].toSorted()).toEqual([spring, summer].toSorted());
  expect(events.filter(({ type }) => type === "notice")).toMatchObject([
    { words: `credit@champion is now the model of job summer (${summer.slice(0, 12)})` },
    { words: `credit@champion is now the model of job spring (${spring.slice(0, 12)})` },
  ]);

  // Promoted at the bank only: one shop refuses, and the model before stays until it allows the other one.
  await modelCommand(shops[1], "retire", "credit@2");
  const refused = async (): Promise<number> => (await post(`${reference.url}/models/summer/predict`, some)).status;
  await expect.poll(refused, soon).toBe(502);
  await modelCommand(bank, "promote", "credit@2", "--without-asking");
  const complaints = (): string[] =>
    events.flatMap((event) => (event.type === "error" ? [`${event.code}: ${event.message}`] : []));
  await expect
    .poll(complaints, soon)
    .toEqual([
      expect.stringMatching(/POLICY: .*job summer is not served yet, and the one before stays: shop1: shop1 has/),
    ]);
  expect(await servedNow()).toBe(spring);
  await registerCredit(shops[1], "summer");
  await expect.poll(servedNow, soon).toBe(summer);
  const metrics = await (await fetch(`${url}/metrics`)).text();
  expect(metrics).toContain(`tandem_served_model{model="credit@champion",job="summer",id="${summer}"} 1`);
});

test("several models: a path for each, and those that cannot be", async () => {
  const world = await registeredWorld(worlds, 1);
  await modelCommand(world.bank, "promote", "credit@1");
  const [spring, summer] = await modelIds(world);
  const { url } = await serve(world, { more: ["summer"] });
  const [id] = trainingPredictions(world).keys();
  for (const [path, model] of [
    ["/predict", spring],
    ["/models/credit@champion/predict", spring],
    ["/models/summer/predict", summer],
  ])
    expect(await post(`${url}${path}`, [id]), path).toMatchObject({ status: 200, model });
  expect((await post(`${url}/models/spring/predict`, [id])).status).toBe(404);
  expect(await (await fetch(`${url}/models`)).json()).toEqual({
    models: [
      { name: "credit@champion", job: "spring", model: spring, paths: ["/predict", "/models/credit@champion/predict"] },
      { name: "summer", job: "summer", model: summer, paths: ["/models/summer/predict"] },
    ],
  });
  expect((await fetch(`${url}/models/summer/ready`)).status).toBe(200);
  const metrics = await (await fetch(`${url}/metrics`)).text();
  expect(metrics).toContain('tandem_rows_total{model="credit@champion",outcome="scored"} 2');
  expect(metrics).toContain('tandem_rows_total{model="summer",outcome="scored"} 1');
  await expectError(() => serve(world, { more: ["credit@champion"] }), "USAGE", /credit@champion is named twice/);
  await expectError(() => serve(world, { model: "credit@next" }), "MODEL_UNKNOWN", /it has champion, 1, 2/);
});

test("shadow scoring: both scores in the file, counted by the party, and without an effect on answers", async () => {
  const world = await registeredWorld(worlds, 1);
  const { bank, shop } = world;
  await modelCommand(bank, "promote", "credit@1");
  await modelCommand(bank, "promote", "credit@2", "--as", "challenger");
  const output = join(bank.folder, "shadow.jsonl");
  const { url, close } = await serve(world, { shadow: { model: "credit@challenger", share: 1, output } });
  const ids = [...trainingPredictions(world).keys()].slice(0, 20);
  const lines = (): ShadowLine[] =>
    existsSync(output)
      ? readFileSync(output, "utf8")
          .split("\n")
          .filter((line) => line !== "")
          .map((line) => JSON.parse(line) as ShadowLine)
      : [];
  const champion = await post(`${url}/predict`, ids);
  await expect.poll(() => lines().length, soon).toBe(20);
  const reference = await serve(world, { model: "summer" });
  const challenger = await post(`${reference.url}/predict`, ids);
  await reference.close();
  for (const line of lines()) {
    expect(line).toMatchObject({ model: "spring", shadow: "summer" });
    expect(String(line.prediction)).toBe(champion.scores.get(line.id));
    expect(String(line.shadowPrediction)).toBe(challenger.scores.get(line.id));
  }
  expect(statSync(output).mode & 0o777).toBe(0o600);

  await modelCommand(shop, "retire", "credit@2");
  await expect
    .poll(async () => (await post(`${url}/predict`, ids)).scores.size > 0 && lines().at(-1)?.error, soon)
    .toBe("POLICY");
  expect((await post(`${url}/predict`, ids)).scores).toEqual(champion.scores);
  expect(await (await fetch(`${url}/metrics`)).text()).toMatch(/tandem_shadow_lost_rows_total\{reason="POLICY"\} \d+/);
  await close();
  await world.parties[0].stop();
  const counted = world.parties[0].events.flatMap((event) =>
    event.type === "scored" ? [{ job: event.job, ids: event.idCount }] : [],
  );
  // The job's shadow is a question of its own: as many people again.
  expect(new Set(counted.map(({ job }) => job))).toEqual(new Set(["spring", "summer"]));
  const own = readFileSync(join(bank.folder, "jobs", "summer", "own.jsonl"), "utf8");
  expect(own).toMatch(/"kind":"revealed".*"how":"scoring".*"ids":\d+/);
});
