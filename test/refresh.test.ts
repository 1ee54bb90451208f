/**
 * Refreshed leaves between real parties over TLS: columns that control how rows are trained on, labels of one class.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { columnIndex, numericColumn } from "../src/data/columns.ts";
import { readCsvTable } from "../src/data/csv-table.ts";
import { BoostingTask } from "../src/gbdt/boost/boosting-task.ts";
import { refreshTrees } from "../src/gbdt/boost/refresh.ts";
import { valueGoesLeft } from "../src/gbdt/split/split-test.ts";
import { leafOf } from "../src/gbdt/tree/tree.ts";
import type { RowColumnName } from "../src/base/rows/row-columns.ts";
import type { ActiveConfig } from "../src/party/config/config.ts";
import type { Metrics } from "../src/record/events/training-fields.ts";
import { type RefreshOptions, runRefresh } from "../src/scoring/run-refresh.ts";
import { readActiveShare } from "../src/store/share-files.ts";
import { expectError } from "./support/expect-error.ts";
import { testWorlds } from "./support/test-worlds.ts";
import { makePeople, type Person } from "./world/people.ts";
import type { ActiveChanges, Company, ProcessWorld } from "./world/processes.ts";
import { TrainingRows } from "../src/gbdt/rows/training-rows.ts";

const worlds = testWorlds();

interface TrainedWorld {
  readonly world: ProcessWorld;
  readonly bank: Company;
  readonly shop: Company;
  readonly config: ActiveConfig;
  /** Of all instances, with the whole model. */
  readonly trained: Metrics;
}

/**
 * Both hold all ids. The bank's second column controls how rows are trained on (a weight, for example), or is a
 * feature.
 */
async function trainedWorld(people: readonly Person[], active: ActiveChanges): Promise<TrainedWorld> {
  const world = await worlds.found({
    bank: { people, columns: [0, 1] },
    shop: { people: people.toReversed(), columns: [2, 3] },
  });
  await world.start(world.shop);
  const events = await world.train("spring", active);
  const trained = events
    .flatMap((event) => (event.type === "active-result" ? [event.result.metrics.train] : []))
    .at(-1);
  const { bank, shop } = world;
  return { world, bank, shop, config: await world.activeConfig("spring", active), trained: trained ?? {} };
}

/** Of the bank's file, in its order: the whole model with new leaves, as in central training. */
async function onePlace({ world, shop, config }: TrainedWorld, input: string, column: RowColumnName | null) {
  const model = await world.model("spring");
  const file = await readCsvTable(input);
  const ids = file.columns[columnIndex(file, "id")];
  const own = (name: string): Float32Array => numericColumn(file, columnIndex(file, name), new Set());
  const theirs = await readCsvTable(join(shop.folder, "data.csv"));
  const rowOf = new Map(theirs.columns[0].map((id, row) => [id, row]));
  const shopColumns = ["shop_2", "shop_3"].map((name) => {
    const values = numericColumn(theirs, columnIndex(theirs, name), new Set());
    return Float32Array.from(ids, (id) => values[rowOf.get(id) ?? -1]);
  });
  const values = [column === null ? [own("bank_0"), own("bank_1")] : [own("bank_0")], shopColumns];
  const labels = Float64Array.from(file.columns[columnIndex(file, "outcome")], (text) =>
    text === "defaulter" ? 1 : text === "payer" ? 0 : Number(text),
  );
  const columns =
    column === null ? {} : { [column]: Float64Array.from(own("bank_1"), (v) => (Number.isNaN(v) ? Infinity : v)) };
  const task = new BoostingTask(config.job.training, new TrainingRows(labels, { columns }), false);
  const leavesOf = (tree: number): Uint32Array =>
    Uint32Array.from(ids, (_, row) =>
      leafOf(model.trees[tree], (rule) => valueGoesLeft(rule, values[rule.owner][rule.feature][row])),
    );
  return refreshTrees(model, task, config.job.training, leavesOf).trees.map((tree) =>
    tree.map((node) => (node.kind === "leaf" ? node : { cover: node.cover, gain: node.gain })),
  );
}

async function leavesIn({ bank }: TrainedWorld, job: string): Promise<unknown> {
  const { trees } = await readActiveShare(join(bank.folder, "jobs", job, "share.json"));
  return trees.map((tree) =>
    tree.map((node) => (node.kind === "leaf" ? node : { cover: node.cover, gain: node.gain })),
  );
}

function optionsFor(input: string, changes: Partial<RefreshOptions> = {}): RefreshOptions {
  return { model: "spring", input, job: "autumn", unknown: "refuse", refreshLeaf: true, onProgress() {}, ...changes };
}

/** The bank's file with fewer rows, or other cells. */
function changedFile(
  { bank }: TrainedWorld,
  name: string,
  change: (cells: string[], row: number) => string[] | null,
): string {
  const [header, ...lines] = readFileSync(join(bank.folder, "data.csv"), "utf8").trim().split("\n");
  const rows = lines.flatMap((line, row) => change(line.split(","), row)?.join(",") ?? []);
  const path = join(bank.folder, name);
  writeFileSync(path, `${[header, ...rows].join("\n")}\n`);
  return path;
}

const at = ({ values }: Person, column: number): number => Number(values[column] || 0);
const withColumn = (person: Person, cell: string, label: number): Person => ({
  ...person,
  values: person.values.map((value, i) => (i === 1 ? cell : value)),
  label: String(label),
});

const cases: readonly (readonly [string, RowColumnName, (person: Person, row: number) => Person])[] = [
  [
    "count:poisson",
    "base_margin",
    (person, row) => withColumn(person, String((row % 7) / 4 - 1), Math.max(0, Math.round(at(person, 2) * 2 + 1))),
  ],
  [
    "survival:aft",
    "label_upper_bound",
    (person, row) => {
      const time = Math.round(Math.exp(at(person, 0) + at(person, 3)) * 64) / 64 + 0.5;
      return withColumn(person, row % 3 === 0 ? "" : String(time * 1.5), time);
    },
  ],
  ["rank:ndcg", "qid", (person, row) => withColumn(person, String(row % 15), at(person, 2) > at(person, 4) ? 2 : 0)],
  ["rank:pairwise", "qid", (person, row) => withColumn(person, String(row % 9), at(person, 3) > at(person, 5) ? 1 : 0)],
];

test.each(cases)("%s with %s: leaves equal the centralised ones, and metrics those of training", async (...given) => {
  const [objective, column, change] = given;
  const data = { positive: undefined, test_fraction: undefined, [column]: "bank_1" };
  const training = { objective, num_round: 3, max_depth: 3, max_bin: 8 };
  const world = await trainedWorld(makePeople(150, "refresh").map(change), { data, training });
  const same = join(world.bank.folder, "data.csv");
  const kept = await runRefresh(world.config, optionsFor(same, { job: "same", refreshLeaf: false }));
  expect(kept.metrics.after).toEqual(kept.metrics.before);
  expect(Object.keys(kept.metrics.before)).toEqual(Object.keys(world.trained));
  for (const [name, value] of Object.entries(world.trained)) expect(kept.metrics.before[name]).toBeCloseTo(value, 10);

  const fewer = changedFile(world, "fewer.csv", (cells, row) => (row % 4 === 1 ? null : cells));
  const fresh = await runRefresh(world.config, optionsFor(fewer));
  expect(fresh.metrics.after).not.toEqual(fresh.metrics.before);
  expect(await leavesIn(world, "autumn")).toEqual(await onePlace(world, fewer, column));
});

test("labels of one class refresh leaves, as in XGBoost; no rows at all is refused", async () => {
  const people = makePeople(120, "one class");
  const world = await trainedWorld(people, {});
  const alike = changedFile(world, "alike.csv", (cells) => [...cells.slice(0, 3), "defaulter"]);
  const result = await runRefresh(world.config, optionsFor(alike));
  expect(await leavesIn(world, "autumn")).toEqual(await onePlace(world, alike, null));
  expect(result.metrics.after["auc"]).toBeNaN();
  expect(result.absence).toMatch(/^all 120 new rows have the same label: auc and ks do not exist there$/);

  const fromParquet = { ...world.config, data: { ...world.config.data, format: "parquet" as const } };
  const again = await runRefresh(fromParquet, optionsFor(alike, { job: "winter" }));
  expect(again.metrics.after["logloss"]).toBe(result.metrics.after["logloss"]);

  const unknown = changedFile(world, "unknown-ids.csv", ([id, ...cells]) => [`${id}y`, ...cells]);
  await expectError(
    () => runRefresh(world.config, optionsFor(unknown, { job: "no-rows", unknown: "skip" })),
    "ID_UNKNOWN",
    /unknown-ids\.csv: none of its ids is known to all passive parties/,
  );
});

test("errors in the rows are reported by file and line, before any party is asked", async () => {
  const [, column, change] = cases[1];
  const data = { positive: undefined };
  const training = { objective: "survival:aft", num_round: 1, max_depth: 2, max_bin: 8 };
  const people = makePeople(60, "lines").map(change);
  const world = await trainedWorld(people, { data: { ...data, [column]: "bank_1" }, training });
  const wrong = changedFile(world, "wrong.csv", (cells, row) =>
    row === 4 ? [...cells.slice(0, 2), "0.01", "9"] : cells,
  );
  await world.world.close();
  await expectError(
    () => runRefresh(world.config, optionsFor(wrong)),
    "LABEL_INVALID",
    /wrong\.csv, line 6, column 'bank_1': the label_upper_bound is below its label/,
  );
  const { job } = world.config;
  const odd = { ...world.config, job: { ...job, training: { ...job.training, eval_metric: ["auc" as const] } } };
  await expectError(() => runRefresh(odd, optionsFor(wrong)), "USAGE", /eval_metric auc does not fit/);
});
