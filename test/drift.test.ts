/**
 * Drift between real parties: each sees that of its own features and the active party that of scores. Nothing of it
 * reaches the other side.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { resolveParameters, servingParameters } from "../src/base/parameters/parameters.ts";
import type { DriftSummary } from "../src/record/drift-facts.ts";
import type { PartyEvent } from "../src/record/events.ts";
import { PartyMetrics } from "../src/record/party-metrics.ts";
import { startServer } from "../src/scoring/http/run-serve.ts";
import { type TrainedWorld, TrainedWorlds, trainingPredictions, writeInput } from "./support/test-worlds.ts";
import { tandemHere } from "./world/command-here.ts";
import type { Company } from "./world/processes.ts";

const worlds = new TrainedWorlds();

async function serve(world: TrainedWorld): Promise<{ url: string; events: PartyEvent[]; close(): Promise<void> }> {
  const events: PartyEvent[] = [];
  const options = {
    model: "spring",
    host: "127.0.0.1",
    port: 0,
    token: null,
    insecureWithoutToken: false,
    unknownAsMissing: false,
    version: "0",
    parameters: resolveParameters(servingParameters, {}),
  };
  const server = await startServer(world.config, options, (event) => events.push(event));
  onTestFinished(() => server.close());
  return { url: `http://127.0.0.1:${server.port}`, events, close: () => server.close() };
}

async function score(url: string, ids: readonly string[]): Promise<void> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${url}/predict`, { method: "POST", headers, body: JSON.stringify({ ids }) });
  expect(response.status).toBe(200);
}

/** The drift that a party has noted in the record of its job last. */
function noted({ folder }: Company): DriftSummary | undefined {
  const lines = readFileSync(join(folder, "jobs", "spring", "own.jsonl"), "utf8")
    .trim()
    .split("\n");
  const drifts = lines.map((line) => JSON.parse(line) as { kind: string; summary: DriftSummary });
  return drifts.findLast(({ kind }) => kind === "drift")?.summary;
}

const indexOf = (summary: DriftSummary | undefined, name: string): number =>
  summary?.items.find((item) => item.name === name)?.index ?? Number.NaN;

const idsOf = (world: TrainedWorld): string[] =>
  readFileSync(join(world.shops[0].folder, "data.csv"), "utf8")
    .trim()
    .split("\n")
    .slice(1)
    .map((line) => line.split(",")[0])
    .slice(0, 190);

test.each([false, true])("of scores and own features, at each party its own (masked scoring: %s)", async (isMasked) => {
  const world = await worlds.train(1, {
    active: { training: { num_round: 6, max_depth: 3, max_bin: 8 }, privacy: { masked_scoring: isMasked } },
  });
  const { bank, shop, parties } = world;
  const ids = idsOf(world).filter((id) => readFileSync(join(bank.folder, "data.csv"), "utf8").includes(`${id},`));
  const before = await serve(world);
  for (let i = 0; i < 3; i++) await score(before.url, ids);
  const metrics = await (await fetch(`${before.url}/metrics`)).text();
  expect(metrics).toMatch(/tandem_stability_index\{model="spring",of="score",name=""\} 0\.\d+/);
  expect(metrics).toMatch(/tandem_stability_index\{model="spring",of="feature",name="bank_0"\} 0\.\d+/);
  await before.close();
  await parties[0].stop();
  for (const [company, name] of [
    [bank, ""],
    [bank, "bank_0"],
    [shop, "shop0_2"],
  ] as const)
    expect(indexOf(noted(company), name), name).toBeLessThan(0.1);
  expect(noted(shop)?.items.every(({ of, name }) => of === "feature" && name.startsWith("shop0"))).toBe(true);
  expect(noted(bank)?.items.some(({ name }) => name.startsWith("shop"))).toBe(false);

  // The shop's values move: the shop sees it of the feature, the bank of the scores.
  const path = join(shop.folder, "data.csv");
  const [header, ...rows] = readFileSync(path, "utf8").trim().split("\n");
  const moved = rows.map((row) =>
    row.split(",").map((cell, i) => (i === 0 || cell === "" ? cell : String(Number(cell) + 2))),
  );
  writeFileSync(path, `${header}\n${moved.map((row) => row.join(",")).join("\n")}\n`);
  const party = await world.start(shop, { policy: { max_scores_per_person: 100 } });
  Object.assign(world, { config: await world.activeConfig("spring", { privacy: { masked_scoring: isMasked } }) });
  const after = await serve(world);
  for (let i = 0; i < 3; i++) await score(after.url, ids);
  await after.close();
  await party.stop();
  expect(indexOf(noted(shop), "shop0_2")).toBeGreaterThan(0.25);
  expect(indexOf(noted(bank), "")).toBeGreaterThan(0.1);
  expect(indexOf(noted(bank), "bank_0")).toBeLessThan(0.1);
  const [ofShop] = party.events.flatMap((event) => (event.type === "drift" ? [event] : []));
  expect(ofShop).toMatchObject({ party: "shop0", job: "spring", stable: 0 });
  expect(JSON.stringify(ofShop)).not.toMatch(/shop0_/);
  expect(after.events.filter(({ type }) => type === "drift")).not.toEqual([]);
  const ownMetrics = new PartyMetrics();
  for (const event of party.events) ownMetrics.see(event);
  expect(ownMetrics.text()).toMatch(/tandem_drift_features\{level="large"\} [12]/);

  const reference = JSON.parse(readFileSync(join(shop.folder, "jobs", "spring", "reference.json"), "utf8")) as {
    reference: { scores: unknown[]; features: { name: string }[] };
  };
  expect(reference.reference.scores).toEqual([]);
  expect(JSON.stringify(reference)).not.toMatch(new RegExp(ids.slice(0, 20).join("|")));
  const ofBank = readdirSync(join(bank.folder, "jobs"), { recursive: true, encoding: "utf8" })
    .filter((name) => /json|csv/.test(name))
    .map((name) => readFileSync(join(bank.folder, "jobs", name), "utf8"));
  for (const { name } of reference.reference.features) for (const text of ofBank) expect(text).not.toContain(name);
});

test("of a file with few people there is none, and of a model without references neither", async () => {
  const world = await worlds.train(1);
  const input = writeInput(world, "few.csv", [...trainingPredictions(world).keys()]);
  const files = ["--input", input, "--output", join(world.bank.folder, "few-scores.csv"), "--json"];
  const { stdout, exitCode } = await tandemHere("predict", "-c", world.configPath, "--model", "spring", ...files);
  expect([exitCode, JSON.parse(stdout)]).toEqual([
    0,
    expect.not.objectContaining({ drift: expect.anything() as unknown }),
  ]);
  // A damaged file costs the drift only.
  writeFileSync(join(world.bank.folder, "jobs", "spring", "reference.json"), "x");
  const served = await serve(world);
  await score(served.url, idsOf(world).slice(0, 5));
  expect(served.events).toContainEqual(expect.objectContaining({ type: "error", code: "FILE_FORMAT" }));
});
