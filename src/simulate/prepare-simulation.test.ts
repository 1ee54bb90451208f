import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectError } from "../../test/support/expect-error.ts";
import { trainInOnePlace } from "./comparison.ts";
import { prepareSimulation } from "./prepare-simulation.ts";
import type { SimulateOptions } from "./simulate-options.ts";

let folder: string;
beforeAll(async () => (folder = await mkdtemp(join(tmpdir(), "tandem-prepare-"))));
afterAll(() => rm(folder, { recursive: true }));

async function fileOf(name: string, lines: readonly string[]): Promise<string> {
  await writeFile(join(folder, name), `${lines.join("\n")}\n`);
  return join(folder, name);
}

const rows = Array.from({ length: 40 }, (_, i) => `${i},${(i * 7) % 11},${(i * 5) % 13}`);
const labelled = (label: (i: number) => string): string[] => rows.map((row, i) => `${row},${label(i)}`);

function prepare(data: string, more: Partial<SimulateOptions> = {}) {
  const notices: string[] = [];
  const options: SimulateOptions = {
    data,
    label: "y",
    active: ["a"],
    passives: [["b"]],
    testFraction: 0.25,
    missing: [],
    job: { training: { num_round: 2 }, insecureKeyBits: 512 },
    check: false,
    onEvent: (event) => event.type === "notice" && notices.push(event.words),
    ...more,
  };
  return prepareSimulation(options).then((prepared) => ({ ...prepared, notices }));
}

test("columns of the user with the names of added columns do not collide", async () => {
  const path = await fileOf("own.csv", [",tandem_id,column_0,y", ...labelled((i) => String(i % 2))]);
  const { federation } = await prepare(path, { active: ["tandem_id"], passives: [["#0", "column_0"]] });
  expect(federation.id).toBe("tandem_id_");
  expect(federation.active.train.names).toEqual(["tandem_id_", "tandem_id", "y"]);
  expect(federation.passives[0].train.names).toEqual(["tandem_id_", "column_0_", "column_0"]);
});

test("the label keeps its name, unless that would be a position", async () => {
  for (const [label, position, name] of [
    ["y", "#3", "y"],
    ["#1", "#3", "tandem_label"],
  ]) {
    const path = await fileOf("named.csv", [`id,a,b,${label}`, ...labelled((i) => String(i % 2))]);
    const { federation } = await prepare(path, { label: position, passives: [["#2"]] });
    expect(federation.active.label).toBe(name);
    expect(federation.active.train.names.at(-1)).toBe(name);
  }
});

test("labels that are names: the active party receives the class names in order, and their number", async () => {
  const names = ["red", "green", "blue"];
  const path = await fileOf("colours.csv", ["id,a,b,y", ...labelled((i) => names[i % 3])]);
  const given = { job: { training: { num_round: 2, objective: "multi:softprob" } } };
  const { federation, job, notices } = await prepare(path, given);
  expect(job.training.num_class).toBe(3);
  expect(federation.active.classes).toEqual(["blue", "green", "red"]);
  expect(new Set(federation.active.train.columns.at(-1))).toEqual(new Set(names));
  expect(notices).toEqual([expect.stringMatching(/3 classes, numbered from 0 on in sorted order/)]);
  expect(notices[0]).not.toMatch(/\b(blue|green|red)\b/);
  const ordered = await prepare(path, { ...given, classes: names });
  expect(ordered.federation.active.classes).toEqual(names);
  expect(ordered.notices).toEqual([]);
});

test("files to test on or validate with may have one class, training rows may not: their file is named", async () => {
  const header = "id,a,b,y";
  const path = await fileOf("train.csv", [header, ...labelled((i) => String(i % 2))]);
  const ones = await fileOf("ones.csv", [header, ...labelled(() => "1")]);
  const { test: tested } = await prepare(path, { testData: ones, validationData: ones });
  expect(new Set(tested[0].labels)).toEqual(new Set([1]));
  await expectError(() => prepare(ones), "LABEL_INVALID", /ones\.csv, column 'y': every label is 1/);
  await expectError(
    () =>
      prepare(path, {
        validationData: ones,
        job: { training: { num_round: 2, early_stopping_rounds: 1, eval_metric: "logloss,auc" } },
      }),
    "LABEL_INVALID",
    /auc does not exist/,
  );
  const rare = await fileOf("rare.csv", [header, ...labelled((i) => (i === 3 ? "1" : "0"))]);
  const seeds = [1, 2, 3, 4, 5, 6, 7, 8, 9];
  const messages = await Promise.all(
    seeds.map((seed) =>
      prepare(rare, { job: { training: { seed } } }).then(
        () => "",
        (error: Error) => error.message,
      ),
    ),
  );
  expect(messages.filter((message) => message !== "")).not.toEqual([]);
  for (const message of messages) if (message !== "") expect(message).toContain("rare.csv");
});

test("a wrong label of a later file is named by that file's line", async () => {
  const path = await fileOf("some.csv", ["id,a,b,y", ...labelled((i) => String(i % 2))]);
  const wrong = await fileOf("wrong.csv", ["id,a,b,y", ...labelled((i) => (i === 5 ? "7" : "1"))]);
  await expectError(() => prepare(path, { testData: wrong }), "LABEL_INVALID", /wrong\.csv, line 7, column 'y'/);
  const counts = await fileOf("counts.csv", ["id,a,b,y", ...labelled((i) => (i === 2 ? "-1" : "1"))]);
  await expectError(
    () => prepare(counts, { job: { training: { objective: "count:poisson" } } }),
    "LABEL_INVALID",
    /counts\.csv, line 4, column 'y': the label is negative/,
  );
});

test("noise is drawn from the seed: the same rows and columns, other splits or leaves", async () => {
  const path = await fileOf("noisy.csv", ["id,a,b,y", ...labelled((i) => ((i * 5) % 13 > 6 ? "1" : "0"))]);
  const job = { training: { num_round: 2, seed: 8 }, insecureKeyBits: 512, privacy: { answer_noise: 0.2 } };
  const prepared = await prepare(path, { active: [], job });
  const withSeed = async (seed: number) => {
    const { model } = await trainInOnePlace({
      ...prepared,
      job: { ...prepared.job, training: { ...prepared.job.training, seed } },
    });
    return JSON.stringify(model);
  };
  expect(await withSeed(8)).toBe(await withSeed(8));
  expect(await withSeed(8)).not.toBe(await withSeed(9));
});

test("a label_upper_bound below its label is named by its line", async () => {
  const path = await fileOf("times.csv", ["id,a,b,y,upper", ...labelled((i) => `${i + 1},${i === 6 ? 2 : i + 2}`)]);
  const training = { num_round: 2, objective: "survival:aft" } as const;
  await expectError(
    () => prepare(path, { job: { training }, rowColumns: { label_upper_bound: "upper" } }),
    "LABEL_INVALID",
    /times\.csv, line 8, column 'upper': the label_upper_bound is below its label/,
  );
});

test("parties by name: the first is the active one, and '*' takes what no other option uses", async () => {
  const path = await fileOf("named.csv", ["id,a,b,y", ...labelled((i) => String(i % 2))]);
  const of = async (more: Partial<SimulateOptions>): Promise<(readonly [string, readonly string[]])[]> => {
    const { federation } = await prepare(path, { passives: [], ...more });
    return [federation.active, ...federation.passives].map(({ name, features }) => [name, features]);
  };
  const bank = { name: "bank", columns: ["b"] };
  const others = { name: "retailer", columns: ["*"] };
  expect(await of({ active: [], id: "id", party: [bank, others] })).toEqual([
    ["bank", ["b"]],
    ["retailer", ["a"]],
  ]);
  expect(await of({ active: ["*"], id: "id", party: [bank] })).toEqual([
    ["active", ["a"]],
    ["bank", ["b"]],
  ]);
  expect(await of({ passives: [["b"]], party: [{ name: "telecom", columns: ["id"] }] })).toEqual([
    ["active", ["a"]],
    ["passive-1", ["b"]],
    ["telecom", ["id"]],
  ]);
});

test("parties that cannot be meant", async () => {
  const path = await fileOf("wrong.csv", ["id,a,b,y", ...labelled((i) => String(i % 2))]);
  const bank = { name: "bank", columns: ["b"] };
  const refused = (more: Partial<SimulateOptions>, code: "USAGE" | "COLUMN_SHARED", words: RegExp) =>
    expectError(() => prepare(path, { passives: [], ...more }), code, words);
  await refused({ active: [], party: [bank] }, "USAGE", /--party bank is the only party: add --party for another/);
  await refused({ party: [bank, bank] }, "USAGE", /two parties are named 'bank'/);
  await refused({ party: [{ name: "active", columns: ["b"] }] }, "USAGE", /two parties are named 'active'/);
  await refused({ party: [{ name: "bank", columns: ["a"] }] }, "COLUMN_SHARED", /both --active and --party bank/);
  const all = { name: "retailer", columns: ["*"] };
  await refused({ active: ["*"], party: [all] }, "COLUMN_SHARED", /--active and --party retailer both take all other/);
});
