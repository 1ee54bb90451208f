/** train, party and score of the library, in one process over TLS: what they return, refuse, and do on abort. */
import { join } from "node:path";
import { writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type ActiveConfig,
  createCertificate,
  openModel,
  type PartyServer,
  party,
  type PassiveConfig,
  type Progress,
  train,
  type TrainResult,
  type CustomObjective,
} from "../src/api/index.ts";
import { train as trainAlone } from "../src/api/gbdt.ts";
import { registerScheme, schemeNames } from "../src/api/scheme.ts";
import { simulate } from "../src/api/simulate.ts";
import { scratchDirectory } from "./support/command.ts";
import { expectError } from "./support/expect-error.ts";
import { toy } from "./support/toy-scheme/active.ts";

const folder = scratchDirectory();
const ids = Array.from({ length: 120 }, (_, i) => `c${i}`);
const lines = (header: string, row: (i: number) => string): string =>
  `${[header, ...ids.map((_, i) => row(i))].join("\n")}\n`;
writeFileSync(
  join(folder, "bank.csv"),
  lines("id,income,paid", (i) => `c${i},${i % 7},${2 * (i % 7) > i % 11 ? 1 : 0}`),
);
writeFileSync(
  join(folder, "shop.csv"),
  lines("id,visits", (i) => `c${i + 2},${(i + 2) % 11}`),
);

let server: PartyServer;
let shop: PassiveConfig;
let bank: ActiveConfig;
const shopSteps: Progress[] = [];

beforeAll(async () => {
  const [own, other] = await Promise.all(["bank", "shop"].map((name) => createCertificate(name, join(folder, name))));
  shop = {
    name: "shop",
    listen: { host: "127.0.0.1", port: 0 },
    tls: other.tls,
    active: [{ name: "bank", fingerprint: own.fingerprint }],
    data: { path: join(folder, "shop.csv"), id: "id", features: "all" },
    policy: { insecure_min_key_bits: 256, min_instances: 1 },
    output: { directory: join(folder, "shop", "jobs") },
  };
  server = await party(shop).listen({ onProgress: (step) => shopSteps.push(step) });
  bank = {
    name: "bank",
    job: "first",
    passives: [{ name: "shop", host: "127.0.0.1", port: server.port, fingerprint: other.fingerprint }],
    tls: own.tls,
    data: { path: join(folder, "bank.csv"), id: "id", features: "all", label: "paid", test_fraction: 0.25 },
    training: { num_round: 3, max_depth: 2 },
    insecure_key_bits: 256,
    output: { directory: join(folder, "bank", "jobs") },
  };
});
afterAll(() => server.close());

describe("a job", () => {
  test("returns its model, metrics and predictions, and reports every tree at both parties", async () => {
    const steps: Progress[] = [];
    const { job, model, metrics, predictions } = await train(bank, { onProgress: (step) => steps.push(step) });
    expect(job).toBe("first");
    expect(model).toMatchObject({ job: "first", objective: "binary:logistic", treeCount: 3, passives: ["shop"] });
    expect(Object.keys(metrics)).toEqual(["train", "test"]);
    expect(metrics.test?.["auc"]).toBeGreaterThan(0.5);
    expect(predictions?.names).toEqual(["prediction"]);
    expect(predictions?.values).toHaveLength(predictions?.ids.length ?? -1);
    expect(new Set(predictions?.labels)).toEqual(new Set([0, 1]));
    expect(steps.filter(({ type }) => type === "tree")).toHaveLength(3);
    expect(steps).toContainEqual({ party: "bank", type: "aligned", commonCount: 118 });
    expect(shopSteps).toContainEqual({ party: "shop", type: "ended", job: "first", error: null });
  });

  test("that is aborted keeps its trees: the same call resumes", async () => {
    const stop = new AbortController();
    const reason = new Error("enough for today");
    const config = { ...bank, job: "second", training: { num_round: 4, max_depth: 2 } };
    const trees: number[] = [];
    const note = (step: Progress): void => void (step.type === "tree" && trees.push(step.treesDone));
    const first = train(config, {
      signal: stop.signal,
      onProgress(step) {
        note(step);
        if (step.type === "tree" && step.treesDone === 2) stop.abort(reason);
      },
    });
    await expect(first).rejects.toBe(reason);
    const { model } = await train(config, { onProgress: note });
    expect(model.treeCount).toBe(4);
    expect(trees.filter((tree) => tree === 1)).toHaveLength(1);
    await expect(train(config, { signal: stop.signal })).rejects.toBe(reason);
  });

  test("waits for a party that is not there until it is aborted", async () => {
    const stop = new AbortController();
    const [peer] = bank.passives;
    const config = { ...bank, job: "third", passives: [{ ...peer, port: 9 }] };
    const waiting = train(config, {
      signal: stop.signal,
      onProgress: (step) => void (step.type === "waiting" && stop.abort()),
    });
    await expect(waiting).rejects.toThrow(/aborted/);
    expect(stop.signal.aborted).toBe(true);
  });
});

describe("what a caller plugs in", () => {
  const rows = ids.map((_, i) => i);
  const table = {
    income: rows.map((i) => i % 7),
    visits: rows.map((i) => i % 11),
    spent: rows.map((i) => (i % 7) * (i % 11) + (i % 3)),
  };
  const training = { objective: "reg:squarederror", num_round: 3, max_depth: 3 } as const;
  /** The same ids in the same order at both parties. */
  async function together(job: string, run: (config: ActiveConfig) => Promise<TrainResult>): Promise<Float64Array> {
    const paths = { bank: join(folder, `${job}-bank.csv`), shop: join(folder, `${job}-shop.csv`) };
    writeFileSync(
      paths.bank,
      lines("id,income,spent", (i) => `c${i},${table.income[i]},${table.spent[i]}`),
    );
    writeFileSync(
      paths.shop,
      lines("id,visits", (i) => `c${i},${table.visits[i]}`),
    );
    const directory = join(folder, job);
    const other = await party({
      ...shop,
      data: { ...shop.data, path: paths.shop },
      policy: { ...shop.policy, schemes: [...schemeNames()] },
      output: { directory: join(directory, "shop") },
    }).listen();
    const { model } = await run({
      ...bank,
      job,
      align: false,
      passives: [{ ...bank.passives[0], port: other.port }],
      data: { path: paths.bank, id: "id", features: "all", label: "spent" },
      training,
      output: { directory: join(directory, "bank"), verifiable: false },
    });
    const { values } = await model.score(ids);
    model.close();
    await other.close();
    return values;
  }

  test("an objective: federated trees equal centralised ones, bit for bit", async () => {
    const objective: CustomObjective = {
      name: "log-cosh",
      bounds: { g: { min: -1, max: 1 }, h: { min: 0, max: 1 } },
      gradients(margins, labels) {
        const side = margins.map((margin, i) => Math.tanh(margin - labels[i]));
        return { g: side, h: side.map((t) => 1 - t * t) };
      },
    };
    const options = { label: "spent", parameters: training };
    const alone = await trainAlone(table, { ...options, objective });
    expect(await together("own-objective", (config) => train(config, { objective }))).toEqual(alone.predictions);
    expect((await trainAlone(table, options)).predictions).not.toEqual(alone.predictions);
    await expectError(() => train(bank, { objective }), "USAGE", /output\.verifiable needs gradients .* 'log-cosh'/);
  });

  test("a scheme", async () => {
    const forget = registerScheme(toy);
    expect(schemeNames()).toContain("toy");
    const values = await together("own-scheme", (config) => train({ ...config, scheme: "toy" }));
    forget();
    expect(values).toEqual((await trainAlone(table, { label: "spent", parameters: training })).predictions);
  });
});

describe("scores", () => {
  test("by id equal those of the same instances in a table", async () => {
    const model = await openModel(bank, "first");
    const byId = await model.score(["c4", "c7"]);
    expect(byId).toMatchObject({ ids: ["c4", "c7"], names: ["prediction"], unknown: new Map() });
    const fromTable = await model.score({ id: ["c4", "c7"], income: [4, 0] });
    expect(fromTable.values).toEqual(byId.values);
    const margins = await model.score(["c4"], { output: "margin" });
    expect(1 / (1 + Math.exp(-margins.values[0]))).toBeCloseTo(byId.values[0], 6);
    model.close();
  });

  test("of ids that a party does not hold are refused, skipped, or computed with missing values", async () => {
    const model = await openModel(bank, "first");
    const people = ["c4", "c0", "unknown"]; // c0 is unknown to the shop, the last one to the bank
    await expectError(() => model.score(people), "ID_UNKNOWN", /^1 of 3 ids are unknown to a party \(bank\)/);
    await expectError(() => model.score(people.slice(0, 2)), "ID_UNKNOWN", /^1 of 2 .* \(shop\)/);
    const skipped = await model.score(people, { unknown: "skip" });
    expect([...skipped.values].map(Number.isNaN)).toEqual([false, true, true]);
    expect(skipped.unknown).toEqual(
      new Map([
        ["c0", ["shop"]],
        ["unknown", ["bank"]],
      ]),
    );
    const missing = await model.score(people, { unknown: "missing" });
    expect([...missing.values].some(Number.isNaN)).toBe(false);
    model.close();
  });

  test("are not asked for after an abort", async () => {
    const model = await openModel(bank, "first");
    const signal = AbortSignal.abort(new Error("too late"));
    await expect(model.score(["c4"], { signal })).rejects.toBe(signal.reason);
    expect((await model.score(["c4"])).values).toHaveLength(1);
    model.close();
  });
});

test("an error in a config object names the field, without a line", async () => {
  const wrong = { ...bank, trainng: {} } as ActiveConfig;
  await expectError(
    () => train(wrong),
    "FILE_FORMAT",
    /^the config: unknown field 'trainng'; did you mean 'training'\?$/,
  );
  await expectError(() => openModel(bank, "no-such-job"), "MODEL_UNKNOWN", /there is no model 'no-such-job'/);
});

test("a server is closed by its signal, and one that cannot start says why", async () => {
  const stop = new AbortController();
  const output = { directory: join(folder, "other", "jobs") };
  const other = await party({ ...shop, output }).listen({ signal: stop.signal });
  expect(other.port).toBeGreaterThan(0);
  stop.abort();
  await other.closed;
  await expect(party(shop).listen({ signal: stop.signal })).rejects.toBe(stop.signal.reason);
  await expectError(() => party(shop).listen(), "PARTY_BUSY", /./);
});

test("a simulation that is aborted ends its processes and rejects with the reason", async () => {
  const stop = new AbortController();
  const table = { a: ids.map((_, i) => i % 7), b: ids.map((_, i) => i % 5), y: ids.map((_, i) => i % 2) };
  const running = simulate(table, {
    label: "y",
    active: ["a"],
    passives: [["b"]],
    insecureKeyBits: 256,
    signal: stop.signal,
    onProgress: (step) => void (step.type === "started" && stop.abort(new Error("stopped"))),
  });
  await expect(running).rejects.toThrow("stopped");
});
