/** SHAP values between real parties over TLS: by command, over HTTP, with consent and without. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { resolveParameters, servingParameters } from "../src/base/parameters/parameters.ts";
import { readRecord } from "../src/record/stored-record.ts";
import { startServer } from "../src/scoring/http/run-serve.ts";
import { runPredict } from "../src/scoring/run-predict.ts";
import type { OutputKind } from "../src/scoring/wanted.ts";
import { readActiveShare, writeActiveShare } from "../src/store/share-files.ts";
import { tandemHere } from "./world/command-here.ts";
import type { Company } from "./world/processes.ts";
import { expectError } from "./support/expect-error.ts";
import { people, type TrainedWorld, TrainedWorlds, writeInput } from "./support/test-worlds.ts";

const worlds = new TrainedWorlds();
const ids = people.slice(25, 60).map(({ id }) => id);
const willing = { policy: { explanations: true }, output: { directory: "jobs", contributions: true } };

type Row = Readonly<Record<string, number>>;

function read(path: string): Map<string, Row> {
  const [header, ...rows] = readFileSync(path, "utf8")
    .trim()
    .split("\n")
    .map((line) => line.split(","));
  return new Map(
    rows.map(([id, ...cells]) => [id, Object.fromEntries(cells.map((cell, i) => [header[i + 1], Number(cell)]))]),
  );
}

/** The explanations that a shop received of one model, by its name. */
function explainedValues({ folder }: Company, job: string): Map<string, Row> {
  const path = join(folder, "jobs", "spring", "contributions.csv");
  const [header, ...lines] = readFileSync(path, "utf8").trim().split("\n");
  const own = lines.filter((line) => line.split(",")[1] === job);
  const part = join(folder, `${job}.csv`);
  writeFileSync(part, [header, ...own].map((line) => line.replace(/,[^,]*/, "")).join("\n"));
  return read(part);
}

async function predict(world: TrainedWorld, kind: OutputKind, model = "spring"): Promise<Map<string, Row>> {
  const output = join(world.bank.folder, `${kind}.csv`);
  const input = writeInput(world, "rows.csv", ids);
  const wanted = { kind, iterations: { begin: 0, end: 0 } };
  await runPredict(world.config, { model, input, output, unknown: "refuse", wanted, onProgress() {} });
  return read(output);
}

const sum = (row: Row): number => Object.values(row).reduce((total, value) => total + value, 0);

test("values sum up to margins, by file, command and HTTP; a party that asks for its own receives them", async () => {
  const world = await worlds.restarted(2, willing);
  world.config = await world.activeConfig("spring", { tell_contributions: true });
  const margins = await predict(world, "margin");
  const values = await predict(world, "contributions");
  expect(Object.keys(values.get(ids[0]) ?? {})).toEqual(["bank_0", "bank_1", "party:shop0", "party:shop1", "bias"]);
  for (const id of ids) expect(sum(values.get(id) ?? {})).toBeCloseTo(margins.get(id)?.margin ?? Number.NaN, 10);

  // The second shop has one column: its total is that column's value.
  const [own, single] = world.shops.map((shop) => explainedValues(shop, "spring"));
  for (const id of ids) {
    expect(sum(own.get(id) ?? {})).toBeCloseTo(values.get(id)?.["party:shop0"] ?? Number.NaN, 12);
    expect(single.get(id)?.shop1_4).toBeCloseTo(values.get(id)?.["party:shop1"] ?? Number.NaN, 12);
  }
  const explained = world.parties[0].events.filter(({ type }) => type === "explained");
  expect(explained).toMatchObject([{ peer: "bank", job: "spring" }]);

  // The passive parties note what they sent and took, the bank what it learned and sent: the same.
  const noted = async (folder: string): Promise<unknown[]> =>
    (await readRecord(join(folder, "jobs", "spring"))).own.revealed
      .filter(({ how }) => how !== "scoring")
      .map(({ how, passive, ids: many, splits }) => ({ how, passive, many, splits }));
  const atShop = await noted(world.shops[0].folder);
  expect(atShop).toMatchObject([
    { how: "tags", passive: "shop0" },
    { how: "contributions", passive: "shop0", many: ids.length },
  ]);
  expect(await noted(world.bank.folder)).toEqual(expect.arrayContaining(atShop));

  const path = join(world.bank.folder, "by-command.csv");
  const options = ["-c", world.configPath, "--model", "spring", "--input", join(world.bank.folder, "rows.csv")];
  const { stderr, exitCode } = await tandemHere("predict", ...options, "--output", path, "--contributions", "--json");
  expect([stderr, exitCode]).toEqual(["", 0]);
  expect(read(path)).toEqual(values);

  const parameters = resolveParameters(servingParameters, {});
  const server = await startServer(
    world.config,
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
  const post = async (body: object): Promise<{ status: number; body: unknown }> => {
    const response = await fetch(`http://127.0.0.1:${server.port}/predict`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: await response.json() };
  };
  const [first] = ids;
  expect((await post({ ids: [first], output: "contributions" })).body).toMatchObject({
    predictions: [{ id: first, contributions: values.get(first) }],
  });
  expect((await post({ ids: [first], output: "margin" })).body).toMatchObject({
    predictions: [{ id: first, prediction: margins.get(first)?.margin }],
  });
  const wrong = await post({ ids: [first], output: "margin", iteration_range: [0, 9] });
  expect(wrong).toMatchObject({
    status: 400,
    body: { error: { message: expect.stringContaining("the model has 4") as string } },
  });
  expect((await post({ ids: [first], output: "shap" })).status).toBe(400);
});

test("a party can distinguish a refreshed model's values from those of the previous model", async () => {
  const world = await worlds.restarted(1, willing);
  world.config = await world.activeConfig("spring", { tell_contributions: true });
  const [shop] = world.shops;
  const jobs = join(world.bank.folder, "jobs");
  const share = await readActiveShare(join(jobs, "spring", "share.json"));
  const trees = share.trees.map((tree) =>
    tree.map((node) => (node.kind === "leaf" ? { ...node, weight: 2 * node.weight } : node)),
  );
  mkdirSync(join(jobs, "autumn"));
  await writeActiveShare(join(jobs, "autumn", "share.json"), { ...share, job: "autumn", trees });
  for (const job of ["spring", "autumn"]) {
    const values = await predict(world, "contributions", job);
    const explained = explainedValues(shop, job);
    expect(explained.size).toBe(ids.length);
    for (const id of ids)
      expect(sum(explained.get(id) ?? {})).toBeCloseTo(values.get(id)?.["party:shop0"] ?? Number.NaN, 12);
  }
  const [first] = ids;
  expect(sum(explainedValues(shop, "autumn").get(first) ?? {})).toBeCloseTo(
    2 * sum(explainedValues(shop, "spring").get(first) ?? {}),
    12,
  );
});

test("a party that does not allow it sends no tags; as one feature it sends nothing", async () => {
  const world = await worlds.restarted(2);
  await expectError(() => predict(world, "contributions"), "POLICY", /policy of shop\d does not allow explanations/);
  const margins = await predict(world, "margin");
  const values = await predict(world, "party_contributions");
  for (const id of ids) expect(sum(values.get(id) ?? {})).toBeCloseTo(margins.get(id)?.margin ?? Number.NaN, 10);

  // The error names the party whose consent is missing; another party's model stays unknown.
  const listen = { host: "127.0.0.1", port: world.parties[0].port };
  await world.parties[0].stop();
  await world.start(world.shops[0], { ...willing, output: { directory: "elsewhere" }, listen });
  await expectError(() => predict(world, "contributions"), "MODEL_UNKNOWN", /shop0 has no share of this model/);
});
