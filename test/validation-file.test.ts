/**
 * Validation rows from separate files at every party: federated still equals centralised.
 */
import { readFileSync, writeFileSync } from "node:fs";
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
import type { ActiveConfigInput, PassiveConfigInput } from "../src/party/config/config.ts";
import type { PartyEvent } from "../src/record/events.ts";
import { runActive } from "../src/party/active/run.ts";
import { quantiserFor } from "../src/codec/gradient-layout.ts";
import { mergeShares } from "../src/store/merge-shares.ts";
import { readActiveShare, readPassiveShare } from "../src/store/share-files.ts";
import { scratchDirectory, tandem, writeLoanTable } from "./support/command.ts";
import {
  activeConfig,
  type Company,
  foundCompany,
  makePeople,
  type Person,
  shuffled,
  startParty,
} from "./support/companies.ts";
import { expectError } from "./support/expect-error.ts";

const root = scratchDirectory();
const people = makePeople(150, "validation");
const training = { num_round: 12, max_depth: 3, max_bin: 8, eta: 1, early_stopping_rounds: 1 };
const bankData = {
  path: "data.csv",
  validation_path: "validation.csv",
  id: "id",
  features: "all" as const,
  label: "outcome",
  positive: "defaulter",
  test_fraction: undefined,
};
const shopData: PassiveConfigInput["data"] = {
  path: "data.csv",
  validation_path: "validation.csv",
  id: "id",
  features: "all",
};
const columns = { bank: [0, 1], shop: [2, 3, 4] };

/** Adds a second file, with the columns in another order than the first has them. */
async function company(
  name: "bank" | "shop",
  train: readonly Person[],
  validation: readonly Person[],
): Promise<Company> {
  const founded = await foundCompany(root, name, train, columns[name], name === "bank");
  const names = [
    ...columns[name].map((column) => `${name}_${column}`).reverse(),
    ...(name === "bank" ? ["outcome"] : []),
    "id",
  ];
  const rows = validation.map(({ id, values, label }) => [
    ...columns[name].map((column) => values[column]).reverse(),
    ...(name === "bank" ? [label] : []),
    id,
  ]);
  writeFileSync(join(founded.folder, "validation.csv"), `${[names, ...rows].map((row) => row.join(",")).join("\n")}\n`);
  return founded;
}

let bank: Company;
let shop: Company;
beforeAll(async () => {
  bank = await company("bank", shuffled(people.slice(0, 100), "bank"), people.slice(100, 140));
  // The shop has other ids in either file, and some of the bank's training ids in its validation file.
  shop = await company(
    "shop",
    shuffled(people.slice(10, 95), "shop"),
    shuffled([...people.slice(5, 10), ...people.slice(95, 145)], "shop too"),
  );
});

async function job(
  name: string,
  changes: Partial<ActiveConfigInput> = {},
  passive: Partial<PassiveConfigInput> = {},
): Promise<PartyEvent[]> {
  const party = await startParty(shop, [bank], { data: shopData, ...passive });
  const events: PartyEvent[] = [];
  try {
    await runActive(
      await activeConfig(bank, [{ company: shop, party }], name, { data: bankData, training, ...changes }),
      (event) => events.push(event),
    );
  } finally {
    await party.stop();
  }
  return events;
}

test("aligned: the common ids of both files, evaluated or trained on by the active party's files", async () => {
  const events = await job("aligned");
  const folder = (of: Company): string => join(of.folder, "jobs", "aligned");
  const [header, ...rows] = readFileSync(join(folder(bank), "aligned.csv"), "utf8")
    .trim()
    .split("\n")
    .map((line) => line.split(","));
  expect(header).toEqual(["id", "file", "row"]);
  expect(readFileSync(join(folder(shop), "aligned.csv"), "utf8").split("\n", 1)).toEqual(["id,file,row"]);
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
  const model = mergeShares(await readActiveShare(join(folder(bank), "share.json")), [
    await readPassiveShare(join(folder(shop), "share.json")),
  ]);
  expect(firstDifference(model, inOnePlace)).toBeNull();
  expect(model.trees.length).toBeLessThan(12);
  expect(model.trees.flat().some((node) => node.kind === "split" && node.rule.owner === 1)).toBe(true);
  const evaluated = events.flatMap((event) => (event.type === "tree" ? [event.validation] : []));
  expect(evaluated.length).toBe(model.trees.length + 1);
  expect(evaluated.every((metrics) => metrics !== undefined && metrics["logloss"] > 0)).toBe(true);
});

test("a file at one party only is refused, aligned or not; so is an id that is in two files", async () => {
  const { validation_path: _none, ...without } = shopData;
  const { validation_path: _neither, ...alone } = bankData;
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
    () => job("twice", { data: { ...bankData, validation_path: "data.csv" } }),
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
  const both = await tandem(
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
