/**
 * Columns of text between real parties over TLS: training, prediction, scoring, serving, output to users, refusals.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { resolveParameters, servingParameters } from "../src/base/parameters/parameters.ts";
import { SeededRandom } from "../src/base/random.ts";
import { showActive, showPassive } from "../src/cli/terminal/model-show.ts";
import { CategoryBook } from "../src/data/category-book.ts";
import { columnIndex } from "../src/data/columns.ts";
import { readCsvTable } from "../src/data/csv-table.ts";
import { categoryNamesPerFeature } from "../src/data/dataset.ts";
import { featureColumns } from "../src/data/feature-columns.ts";
import { prepareSimulation } from "../src/simulate/prepare-simulation.ts";
import { toPredictions, predictMargins } from "../src/gbdt/tree/predict.ts";
import { runActive } from "../src/party/active/run.ts";
import { runPredict } from "../src/scoring/run-predict.ts";
import { startServer } from "../src/scoring/http/run-serve.ts";
import { mergeShares } from "../src/store/merge-shares.ts";
import { readActiveShare, readPassiveShare } from "../src/store/share-files.ts";
import { scratchDirectory } from "./support/command.ts";
import { tandemHere } from "./world/command-here.ts";
import { expectError } from "./support/expect-error.ts";
import { predictionsIn, testWorlds } from "./support/test-worlds.ts";
import { type Person, shuffled } from "./world/people.ts";
import type { Company, ProcessWorld } from "./world/processes.ts";

const root = scratchDirectory();
const worlds = testWorlds();
const jobs = ["baker", "smith", "miller", "weaver", "sailor", "carter"];
const homes = ["owned", "rented"];
const towns = Array.from({ length: 9 }, (_, i) => `town-${String.fromCharCode(97 + i)}`);

/** Number, job and home are the bank's; number, town and a district (a numeric code, not a quantity) the shop's. */
function makePeople(count: number): Person[] {
  const random = new SeededRandom("categories over TLS");
  return Array.from({ length: count }, (_, i) => {
    const [job, home, town, district] = [
      random.below(jobs.length),
      random.below(2),
      Math.min(random.below(9), random.below(9)),
      random.below(6),
    ];
    const numbers = [random.normal(), random.normal()];
    const risk =
      numbers[0] + (job % 2 === 0 ? 1.2 : -1.2) + (home === 0 ? -0.8 : 0.8) + (town % 3) - 1 + (district === 4 ? 1 : 0);
    const blank = (cell: string): string => (random.uniform() < 0.06 ? "" : cell);
    const values = [
      numbers[0].toFixed(3),
      blank(jobs[job]),
      homes[home],
      numbers[1].toFixed(3),
      blank(towns[town]),
      String(district),
    ];
    return { id: `p${100 + i}`, values, label: random.uniform() < 1 / (1 + Math.exp(-risk)) ? "defaulter" : "payer" };
  });
}

const people = makePeople(260);
const training = { num_round: 4, max_depth: 3, max_bin: 8, min_child_weight: 0, enable_categorical: true };

async function startedWorld(): Promise<ProcessWorld> {
  const world = await worlds.found({
    bank: { people: shuffled(people.slice(0, 240), "bank"), columns: [0, 1, 2] },
    shop: { people: shuffled(people.slice(20), "shop"), columns: [3, 4, 5] },
  });
  await world.start(world.shop, {
    data: { path: "data.csv", id: "id", features: "all", categorical: ["shop_5"] },
  });
  return world;
}

const sharePath = ({ folder }: Company): string => join(folder, "jobs", "spring", "share.json");

/** Both companies' shares and cells in one place; cells of instances that a company does not hold are missing. */
async function onePlaceScores(
  bank: Company,
  shop: Company,
  inputs: readonly string[],
  ids: readonly string[],
): Promise<Map<string, string>> {
  const model = mergeShares(await readActiveShare(sharePath(bank)), [await readPassiveShare(sharePath(shop))]);
  const wanted = [
    ["bank_0", "bank_1", "bank_2"],
    ["shop_3", "shop_4", "shop_5"],
  ];
  const tables = await Promise.all(
    inputs.map(async (path, owner) => {
      const csv = await readCsvTable(path);
      const names = wanted[owner];
      const table = featureColumns(csv, {
        columns: names.map((name) => columnIndex(csv, name)),
        names,
        missing: [],
        categorical: owner === 0 ? ["bank_1", "bank_2"] : ["shop_5"],
        text: "categories",
        book: new CategoryBook(),
      });
      const rowOf = new Map(csv.columns[columnIndex(csv, "id")].map((id, row) => [id, row]));
      return {
        names: categoryNamesPerFeature(table),
        columns: table.features.map((column) =>
          Float32Array.from(ids, (id) => column[rowOf.get(id) ?? -1] ?? Number.NaN),
        ),
      };
    }),
  );
  const scores = toPredictions(
    model,
    predictMargins(
      model,
      tables.map(({ columns }) => columns),
      ids.length,
      tables.map(({ names }) => names),
    ),
  );
  return new Map(ids.map((id, i) => [id, String(scores[i])]));
}

test("train, predict, score, serve and show", async () => {
  const world = await startedWorld();
  const {
    bank,
    shop,
    parties: [party],
  } = world;
  const config = await world.activeConfig("spring", { training });
  const events: unknown[] = [];
  await runActive(config, (event) => events.push(event));
  const active = await readActiveShare(sharePath(bank));
  const passive = await readPassiveShare(sharePath(shop));
  const own = active.trees
    .flat()
    .flatMap((node) =>
      node.kind === "split" && "featureName" in node.rule && node.rule.categories !== undefined ? [node.rule] : [],
    );
  const splits = passive.splits.filter(({ categories }) => categories !== undefined);
  expect(own.length).toBeGreaterThan(1);
  expect(splits.length).toBeGreaterThan(1);
  expect(Math.max(...splits.map(({ categories = [] }) => categories.length))).toBeGreaterThan(1);

  // The job's own predictions, and the merged model on raw cells.
  const trained = predictionsIn(join(bank.folder, "jobs", "spring", "predictions.csv"));
  const data = [bank, shop].map(({ folder }) => join(folder, "data.csv"));
  expect(trained.size).toBeGreaterThan(40);
  expect(trained).toEqual(await onePlaceScores(bank, shop, data, [...trained.keys()]));

  // A file with an unknown category, a missing one, and one surrounded by spaces.
  const input = join(bank.folder, "input.csv");
  const ids = [...trained.keys()].slice(0, 8);
  const cells = [
    ["0.1", "astronaut", "owned"],
    ["-1", "", "rented"],
    ["2", " baker ", "owned"],
    ...ids.slice(3).map((_, i) => [String(i), jobs[i % 6], homes[i % 2]]),
  ];
  const lines = ids.map((id, i) => [id, cells[i][2], cells[i][1], cells[i][0]].join(","));
  writeFileSync(input, `id,bank_2,bank_1,bank_0\n${lines.join("\n")}\n`);
  const output = join(bank.folder, "scores.csv");
  await runPredict(config, { model: "spring", input, output, unknown: "refuse", onProgress: () => {} });
  const expected = await onePlaceScores(bank, shop, [input, data[1]], ids);
  expect(predictionsIn(output)).toEqual(expected);

  // The same over HTTP, by rows and by ids.
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
      parameters: resolveParameters(servingParameters, {}),
    },
    () => {},
  );
  onTestFinished(() => server.close());
  const post = async (
    body: object,
  ): Promise<{ error?: { message: string }; predictions: { id: string; prediction: number }[] }> =>
    (await (
      await fetch(`http://127.0.0.1:${server.port}/predict`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      })
    ).json()) as never;
  const scoresIn = (answer: Awaited<ReturnType<typeof post>>): Map<string, string> =>
    new Map(answer.predictions.map(({ id, prediction }) => [id, String(prediction)]));
  const rows = ids.map((id, i) => ({
    id,
    features: { bank_0: Number(cells[i][0]), bank_1: cells[i][1] === "" ? null : cells[i][1], bank_2: cells[i][2] },
  }));
  expect(scoresIn(await post({ rows }))).toEqual(expected);
  expect(scoresIn(await post({ ids: [...trained.keys()] }))).toEqual(trained);
  expect((await post({ rows: [{ ...rows[0], features: { ...rows[0].features, bank_1: 3 } }] })).error?.message).toMatch(
    /bank_1: must be a category as text/,
  );

  // Each party sees its own categories only; events and logs contain none.
  expect(
    showActive(
      active,
      "text",
      active.trees.findIndex((tree) => tree.some((node) => node.kind === "split" && "categories" in node.rule)),
    ),
  ).toMatch(/bank_[12] not in \{[a-z, ]+\} \(missing: (yes|no)\)/);
  expect(showPassive(passive, "text")).toMatch(/shop_[45] not in \{(town-[a-i]|\d)/);
  expect(readFileSync(sharePath(bank), "utf8")).not.toMatch(/town-|shop_/);
  expect(readFileSync(sharePath(shop), "utf8")).not.toMatch(/baker|smith|rented/);
  expect(JSON.stringify([events, party.events])).not.toMatch(/baker|smith|rented|town-[a-i]/);
});

describe("without enable_categorical", () => {
  test("text is refused with its line and the option that allows it", async () => {
    const world = await startedWorld();
    const [party] = world.parties;
    const without = { ...training, enable_categorical: false };
    await expectError(
      () => world.train("text", { training: without }),
      "CELL_UNPARSABLE",
      /data\.csv, line 2, column 'bank_1'.*\(training\.enable_categorical\).*\(data\.missing\)$/,
    );
    const numbers = { features: ["bank_0"] };
    const refused = await expectError(
      () => world.train("text", { training: without, data: numbers }),
      "CELL_UNPARSABLE",
      /the table of shop has columns of text.* bank sets enable_categorical under training, or shop leaves/,
    );
    expect(refused.message).not.toMatch(/shop_|town/);
    expect(await party.seen("error")).toMatchObject({
      code: "CELL_UNPARSABLE",
      message: expect.stringMatching(/data\.csv, line \d+, column 'shop_4'.*enable_categorical/) as string,
    });
    await expectError(
      () => world.train("text", { training: without, data: { ...numbers, categorical: ["bank_0"] } }),
      "USAGE",
      /data\.categorical.*enable_categorical/,
    );
  });
});

const table = join(root, "people.csv");
const tableRows = people.map(({ id, values, label }) => [id, ...values, label].join(","));
writeFileSync(table, `id,a,job,home,b,town,district,outcome\n${tableRows.join("\n")}\n`);

test("simulate: text columns and a named one of numbers, equal to centralised training", async () => {
  const options = [
    "simulate",
    "--data",
    table,
    "--id",
    "id",
    "--label",
    "outcome",
    "--positive",
    "defaulter",
    "--active",
    "a,job,home",
    "--passive",
    "b,town,district",
    "--num-round",
    "3",
    "--insecure-key-bits",
    "256",
    "--quiet",
    "--json",
    "--check",
  ];
  const exported = join(root, "simulated.json");
  const { exitCode, stdout, stderr } = await tandemHere(
    ...options,
    "--enable-categorical",
    "--categorical",
    "district",
    "--max-depth",
    "1",
    "--validation-fraction",
    "0.2",
    "--early-stopping-rounds",
    "2",
    "--export",
    exported,
  );
  expect(stderr).toBe("");
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ identicalToCentralised: true });
  const { learner } = JSON.parse(readFileSync(exported, "utf8")) as {
    learner: { attributes: { categories: string }; feature_names: string[]; feature_types: string[] };
  };
  // A column of texts that never splits has no codes: it must not be asked for as numbers.
  const texts = learner.feature_names.filter((name) => !["a", "b"].includes(name));
  expect(learner.feature_names.length).toBeLessThan(6);
  expect(learner.feature_types).toEqual(learner.feature_names.map((name) => (texts.includes(name) ? "c" : "float")));
  expect(Object.keys(JSON.parse(learner.attributes.categories) as object)).toEqual(texts);
});

test("simulate refuses text without enable_categorical, unknown columns, constraints on categories", async () => {
  const given = {
    data: table,
    id: "id",
    label: "outcome",
    positive: "defaulter",
    active: ["a", "job", "home"],
    passives: [["b", "town", "district"]],
    testFraction: 0.25,
    missing: [],
    check: false,
    onEvent: () => {},
  };
  const on = { enable_categorical: true };
  await expectError(
    () => prepareSimulation({ ...given, job: {} }),
    "CELL_UNPARSABLE",
    /people\.csv, line 2, column 'job'.*\(--enable-categorical\).*\(--missing\)$/,
  );
  await expectError(
    () => prepareSimulation({ ...given, job: {}, categorical: ["district"] }),
    "USAGE",
    /^--categorical needs --enable-categorical$/,
  );
  await expectError(
    () => prepareSimulation({ ...given, job: { training: on }, categorical: ["distrikt"] }),
    "COLUMN_UNKNOWN",
    /'distrikt'.*did you mean 'district'/,
  );
  await expectError(
    () => prepareSimulation({ ...given, job: { training: on, constraints: { monotone_constraints: { job: 1 } } } }),
    "USAGE",
    /'job'.*categories/,
  );
});
