/**
 * Validation rows from separate files at every party: federated still equals centralised.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { resolveParameters, codecWith } from "../src/base/parameters/parameters.ts";
import { trainingParameters } from "../src/gbdt/parameters/training-parameters.ts";
import { plaintextBitsMax } from "../src/codec/packing.ts";
import { simulate } from "../src/simulate/simulate.ts";
import { binFeature } from "../src/gbdt/split/binning.ts";
import { otherRows } from "../src/base/rows/row-numbers.ts";
import { TrainingRows } from "../src/gbdt/rows/training-rows.ts";
import { firstDifference } from "../src/gbdt/tree/model-compare.ts";
import { trainCentralised } from "../src/gbdt/boost/train.ts";
import type { PassiveConfigInput } from "../src/party/config/config.ts";
import type { PartyEvent } from "../src/record/events.ts";
import { quantiserFor } from "../src/codec/gradient-layout.ts";
import { scratchDirectory, writeLoanTable } from "./support/command.ts";
import { tandemHere } from "./world/command-here.ts";
import { testWorlds } from "./support/test-worlds.ts";
import { csvText, featureTable, labelledTable, makePeople, type Person, shuffled } from "./world/people.ts";
import type { ActiveChanges, Company, PassiveChanges, ProcessWorld } from "./world/processes.ts";
import { expectError } from "./support/expect-error.ts";

const root = scratchDirectory();
const worlds = testWorlds();
const people = makePeople(150, "validation");
const training = { num_round: 12, max_depth: 3, max_bin: 8, eta: 1, early_stopping_rounds: 1 };
const bankData = { validation_path: "validation.csv", test_fraction: undefined };
const shopData: PassiveConfigInput["data"] = {
  path: "data.csv",
  validation_path: "validation.csv",
  id: "id",
  features: "all",
};
const columns = { bank: [0, 1], shop: [2, 3, 4] };

/** Adds a second file, with the columns in another order than the first has them. */
function addValidation(company: Company, people: readonly Person[]): void {
  const name = company.name as keyof typeof columns;
  const { header, rows } = (name === "bank" ? labelledTable : featureTable)(people, columns[name], name);
  const reversed = { header: header.toReversed(), rows: rows.map((row) => row.toReversed()) };
  writeFileSync(join(company.folder, "validation.csv"), csvText(reversed));
}

let world: ProcessWorld;
beforeAll(async () => {
  world = await worlds.found({
    bank: { people: shuffled(people.slice(0, 100), "bank"), columns: columns.bank },
    shop: { people: shuffled(people.slice(10, 95), "shop"), columns: columns.shop },
  });
  addValidation(world.bank, people.slice(100, 140));
  // The shop has other ids in either file, and some of the bank's training ids in its validation file.
  addValidation(world.shop, shuffled([...people.slice(5, 10), ...people.slice(95, 145)], "shop too"));
});

async function job(name: string, changes: ActiveChanges = {}, passive: PassiveChanges = {}): Promise<PartyEvent[]> {
  await world.start(world.shop, { data: shopData, ...passive });
  return world.train(name, {
    ...changes,
    data: { ...bankData, ...changes.data },
    training: { ...training, ...changes.training },
  });
}

test("aligned: the common ids of both files, evaluated or trained on by the active party's files", async () => {
  const events = await job("aligned");
  const { bank, shop } = world;
  const [header, ...rows] = world
    .read(bank, "aligned", "aligned.csv")
    .trim()
    .split("\n")
    .map((line) => line.split(","));
  expect(header).toEqual(["id", "file", "row"]);
  expect(world.read(shop, "aligned", "aligned.csv").split("\n", 1)).toEqual(["id,file,row"]);
  const common = rows.map(([id, file]) => ({
    person: people.find((one) => one.id === id) ?? people[0],
    isHeld: file === "validation_path",
  }));
  expect(common.map(({ isHeld }) => isHeld).filter(Boolean)).toHaveLength(40);
  expect(common).toHaveLength(135);

  const parameters = resolveParameters(trainingParameters, training);
  const validationRows = Uint32Array.from(common.keys()).filter((row) => common[row].isHeld);
  const deciding = otherRows(validationRows, common.length);
  const parties = Object.entries(columns).map(([name, own]) =>
    own.map((column) =>
      binFeature(
        `${name}_${column}`,
        Float32Array.from(common, ({ person }) =>
          person.values[column] === "" ? Number.NaN : Number(person.values[column]),
        ),
        training.max_bin,
        deciding,
      ),
    ),
  );
  const labels = Float64Array.from(common, ({ person }) => (person.label === "defaulter" ? 1 : 0));
  const inOnePlace = await trainCentralised({
    parties,
    rows: new TrainingRows(labels, { validation: validationRows }),
    parameters,
    quantise: quantiserFor(codecWith(), plaintextBitsMax(256)),
  });
  const model = await world.model("aligned");
  expect(firstDifference(model, inOnePlace)).toBeNull();
  expect(model.trees.length).toBeLessThan(12);
  expect(model.trees.flat().some((node) => node.kind === "split" && node.rule.owner === 1)).toBe(true);
  const evaluated = events.flatMap((event) => (event.type === "tree" ? [event.validation] : []));
  expect(evaluated.length).toBe(model.trees.length + 1);
  expect(evaluated.every((metrics) => metrics !== undefined && metrics["logloss"] > 0)).toBe(true);
});

test("a file at one party only is refused, aligned or not; so is an id that is in two files", async () => {
  const { validation_path: _none, ...without } = shopData;
  const alone = { validation_path: undefined };
  const noStopping = { training: { ...training, early_stopping_rounds: 0 } };
  for (const align of [true, false]) {
    await expectError(
      () => job("lacking", { align }, { data: without }),
      "HANDSHAKE_MISMATCH",
      /validation_path: the active party has a file of validation rows, shop has none/,
    );
    await expectError(
      () => job("alone", { align, ...noStopping, data: alone }),
      "HANDSHAKE_MISMATCH",
      /validation_path: shop has a file of validation rows, the active party has none/,
    );
  }
  await expectError(
    () => job("twice", { data: { validation_path: "data.csv" } }),
    "ID_DUPLICATE",
    /data\.csv: 100 of its ids stand in another file of this party too/,
  );
});

test("simulate: rows in file order, equal to centralised; refused where rows are trained on too", async () => {
  const [train, held] = ["train.csv", "held.csv"].map((name) => join(root, name));
  writeLoanTable(train, 160);
  writeLoanTable(held, 60);
  const options = {
    data: train,
    label: "defaulted",
    active: ["income", "debt", "age"],
    passives: [["visits", "basket"]],
    testFraction: 0.25,
    validationData: held,
    missing: [],
    job: {
      training: { num_round: 6, eta: 1, early_stopping_rounds: 1, subsample: 0.8 },
      insecureKeyBits: 256,
    },
    check: true,
    onEvent: () => {},
  };
  const { difference, active } = await simulate(options);
  expect(difference).toBe("");
  expect(Object.keys(active.metrics.validation ?? {})).not.toEqual([]);
  await expectError(
    () => simulate({ ...options, id: "id" }),
    "ID_DUPLICATE",
    /held\.csv: \d+ of its ids are training rows too/,
  );
  const both = await tandemHere(
    "simulate",
    "--data",
    train,
    "--label",
    "defaulted",
    "--active",
    "income",
    "--passive",
    "visits",
    "--validation-data",
    held,
    "--validation-fraction",
    "0.2",
  );
  expect(both.stderr).toMatch(/--validation-fraction and --validation-data exclude each other/);
});
