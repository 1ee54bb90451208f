/** Parties that both only dial a relay: every command works, and models are the same byte for byte. */
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { resolveParameters, servingParameters } from "../src/base/parameters/parameters.ts";
import { runAlignment } from "../src/party/active/run.ts";
import { startServer } from "../src/scoring/http/run-serve.ts";
import { scratchDirectory } from "./support/command.ts";
import { bankAndShops, testWorlds, trainingPredictions } from "./support/test-worlds.ts";
import { ConnectProxy } from "./world/connect-proxy.ts";
import { tandemHere } from "./world/command-here.ts";
import type { ActiveChanges, PassiveChanges, ProcessWorld } from "./world/processes.ts";
import { TestRelay } from "./world/relay.ts";

const worlds = testWorlds();
const relays: TestRelay[] = [];
let world: ProcessWorld;
/** The same companies, which reach each other directly. */
let twin: ProcessWorld;
let relay: TestRelay;
const direct = new Map<string, readonly string[]>();
beforeAll(async () => {
  world = await worlds.found(bankAndShops(1));
  twin = worlds.copy(world);
  await twin.startAll();
  for (const job of ["spring", "autumn"]) {
    await twin.train(job);
    direct.set(job, twin.outputs(job));
  }
  relay = await TestRelay.found(join(scratchDirectory(), "relay"));
  relays.push(relay);
  await relay.start();
});
afterAll(() => Promise.all(relays.map((each) => each.stop())));

function ofShop(): PassiveChanges {
  const { name, fingerprint } = world.bank;
  return { listen: undefined, active: [{ name, fingerprint, relay: relay.fields("passive") }] };
}

function ofBank(): ActiveChanges {
  const { name, fingerprint } = world.shop;
  return { passives: [{ name, fingerprint, relay: relay.fields("active") }] };
}

test("train, align, predict and doctor work through a relay", async () => {
  const shop = await world.start(world.shop, ofShop());
  expect((await shop.seen("dialled")).trouble).toBe("");
  await world.train("spring", ofBank());
  expect(world.outputs("spring")).toEqual(direct.get("spring"));

  const config = await world.activeConfig("common", ofBank());
  const { aligned } = await runAlignment(config, join(world.bank.folder, "common.csv"), () => {});
  expect(aligned.rows.length).toBeGreaterThan(100);

  const path = world.writeActive("spring", ofBank());
  const [input, output] = [join(world.bank.folder, "data.csv"), join(world.bank.folder, "scores.csv")];
  const files = ["--input", input, "--output", output];
  const predicted = await tandemHere("predict", "-c", path, "--model", "spring", ...files, "--unknown", "skip");
  expect(predicted.exitCode, predicted.stderr).toBe(0);

  const doctor = await tandemHere("doctor", "-c", path, "--idle", "0");
  for (const step of ["TCP", "relay's TLS", "relay", "other end", "TLS", "fingerprint", "accepted", "bandwidth"])
    expect(doctor.stdout).toMatch(new RegExp(`^ok       shop0: ${step}: `, "m"));
  expect(doctor.exitCode, doctor.stdout).toBe(0);
});

test("a relay that is killed in the middle of a job: the job continues, and the model is the same", async () => {
  await world.start(world.shop, ofShop());
  let trees = 0;
  let isBack: Promise<unknown> = Promise.resolve();
  await world.train("autumn", ofBank(), {
    onEvent: ({ type }) => {
      if (type !== "tree" || ++trees !== 1) return;
      isBack = relay.stop().then(() => relay.start());
    },
  });
  await isBack;
  expect(world.outputs("autumn")).toEqual(direct.get("autumn"));
  expect(relay.events.filter(({ type }) => type === "listening")).toHaveLength(2);
});

test("both reach the relay through an HTTP proxy", async () => {
  const proxy = await ConnectProxy.start();
  onTestFinished(() => proxy.close());
  const url = `http://127.0.0.1:${proxy.port}`;
  const proxied = worlds.copy(world);
  const [{ fingerprint }] = ofBank().passives ?? [];
  await world.parties[0].stop();
  const { bank, shop } = proxied;
  const active = [{ name: bank.name, fingerprint: bank.fingerprint, relay: relay.fields("passive"), proxy: url }];
  await proxied.start(shop, { listen: undefined, active });
  const passives = [{ name: shop.name, fingerprint, relay: relay.fields("active"), proxy: url }];
  const path = proxied.writeActive("summer", { passives });
  const doctor = await tandemHere("doctor", "-c", path, "--idle", "0");
  expect(doctor.stdout).toMatch(/^ok       shop0: proxy: 127\.0\.0\.1:\d+, from the config, accepts connections/m);
  expect(doctor.exitCode, doctor.stdout).toBe(0);
  expect(new Set(proxy.asked)).toEqual(new Set([`127.0.0.1:${relay.port}`]));
  const own = await tandemHere("doctor", "-c", join(shop.folder, "passive.json"), "--idle", "0");
  expect(own.stdout).toMatch(/^ok       bank: relay: 127\.0\.0\.1:\d+ is a relay, and room room accepts this party/m);
});

/** What a command prints as JSON, without names of files and jobs. */
async function resultOf(...command: string[]): Promise<Record<string, unknown>> {
  const { exitCode, stdout, stderr } = await tandemHere(...command, "--json", "--quiet");
  expect(exitCode, stderr).toBe(0);
  const { job: _, path: _path, report: _report, ...result } = JSON.parse(stdout) as Record<string, unknown>;
  return result;
}

test("cross-validation, a search and the scoring server give the same through a relay as directly", async () => {
  const relayed = worlds.copy(twin); // with the models of the direct jobs
  await world.parties[0]?.stop();
  await relayed.start(relayed.shop, ofShop());
  const training = { num_round: 2 };
  // Columns are drawn with secrets of each run: none are.
  const search = ["--folds", "2", "--trials", "2", "--search", "eta=0.1..0.4 max_depth=2..3", "--yes"];
  for (const [made, changes] of [[twin, {}] as const, [relayed, ofBank()] as const]) {
    made.writeActive("folds", { training, ...changes });
    made.writeActive("spring", changes);
  }
  const of = (made: ProcessWorld, job: string): string => join(made.bank.folder, `active-${job}.json`);
  for (const command of [
    ["cv", "--folds", "2"],
    ["tune", ...search],
  ]) {
    const [name, ...options] = command;
    const [direct, through] = [
      await resultOf(name, "-c", of(twin, "folds"), ...options),
      await resultOf(name, "-c", of(relayed, "folds"), ...options),
    ];
    expect(through, name).toEqual(direct);
    expect(Object.keys(through)).toContain(name === "cv" ? "folds" : "trials");
  }

  const config = await relayed.activeConfig("spring", ofBank());
  const parameters = resolveParameters(servingParameters, {});
  const server = await startServer(
    config,
    {
      model: "spring",
      host: "127.0.0.1",
      port: 0,
      token: null,
      insecureWithoutToken: false,
      unknownAsMissing: false,
      version: "0",
      parameters,
    },
    () => {},
  );
  onTestFinished(() => server.close());
  const expected = trainingPredictions(twin);
  const response = await fetch(`http://127.0.0.1:${server.port}/predict`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ids: [...expected.keys()] }),
  });
  const { predictions } = (await response.json()) as { predictions: { id: string; prediction: number }[] };
  expect(predictions.length).toBeGreaterThan(30);
  expect(new Map(predictions.map(({ id, prediction }) => [id, String(prediction)]))).toEqual(expected);
});
