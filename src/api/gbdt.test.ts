import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { scratchDirectory } from "../../test/support/command.ts";
import { expectError } from "../../test/support/expect-error.ts";
import { readModel, train } from "./gbdt.ts";

const rows = Array.from({ length: 200 }, (_, i) => i);
const table = {
  age: rows.map((i) => (i % 17 === 0 ? null : i % 50)),
  colour: rows.map((i) => ["red", "green", "blue"][i % 3]),
  weight: rows.map((i) => 1 + (i % 2)),
  spent: rows.map((i) => (i % 50) / 5 + (i % 3 === 0 ? 4 : 0)),
};
const folder = scratchDirectory();
const parameters = { objective: "reg:squarederror", num_round: 5, max_depth: 3 } as const;
const options = { label: "spent", parameters };

test("numbers, text and missing cells are trained on, and predicted from the same table", async () => {
  const steps: number[] = [];
  const { model, metrics, predictions } = await train(table, {
    ...options,
    columns: { weight: "weight" },
    onProgress: ({ treesDone, treeCount }) => steps.push(treesDone, treeCount),
  });
  expect(model).toMatchObject({ features: ["age", "colour"], treeCount: 5, objective: "reg:squarederror" });
  expect(metrics.train["rmse"]).toBeLessThan(2);
  expect(steps).toEqual([1, 5, 2, 5, 3, 5, 4, 5, 5, 5]);
  expect(await model.predict(table)).toEqual(predictions);
  const values = await model.predict(table, { output: "contributions" });
  expect(values[0] + values[1] + values[2]).toBeCloseTo(predictions[0], 5);
  expect(await model.predict(table, { output: "leaf", iterations: [0, 1] })).toHaveLength(200);
  expect(JSON.parse(model.toXgboost())).toHaveProperty("learner.feature_names", ["age", "colour"]);
});

test("a model survives as text, predicts from files as from columns, and counts its splits", async () => {
  const { model, predictions } = await train(table, options);
  const again = readModel(model.toJson());
  expect(again.toJson()).toBe(model.toJson());
  const path = join(folder, "people.csv");
  const lines = rows.map((i) => `${table.age[i] ?? "?"}, ${table.colour[i]} ,${table.spent[i]}`);
  await writeFile(path, ["age,colour,spent", ...lines, ""].join("\n"));
  expect(await again.predict(path, { missing: ["?"] })).toEqual(predictions);
  await expectError(() => again.predict(path), "CELL_UNPARSABLE", /people\.csv, line 2, column 'age': /);
  const [first] = model.importance();
  interface Exported {
    readonly learner: {
      readonly gradient_booster: {
        readonly model: { readonly trees: readonly { split_indices: number[]; left_children: number[] }[] };
      };
    };
  }
  const { trees } = (JSON.parse(model.toXgboost()) as Exported).learner.gradient_booster.model;
  const splits = trees.flatMap((tree) => tree.split_indices.filter((_, node) => tree.left_children[node] !== -1));
  expect(model.importance().map(({ weight }) => weight)).toEqual(
    model.importance().map(({ feature }) => splits.filter((index) => ["age", "colour"][index] === feature).length),
  );
  expect(first).toMatchObject({ party: "active", feature: "age" });
});

test.each([
  ["no JSON", (text: string) => text.slice(1), /^the model is not JSON$/],
  ["another format", (text: string) => text.replace("tandem-model/1", "tandem-model/2"), /^the model's format: /],
  ["a split on no feature", (text: string) => text.replace('"feature":0', '"feature":9'), /no party has/],
  ["a child before its parent", (text: string) => text.replace('"left":1', '"left":0'), /do not come after it/],
  ["a field too many", (text: string) => text.replace('{"format"', '{"more":1,"format"'), /Unrecognized key/],
] as const)("refuses the text of a model with %s", async (_, change, words) => {
  const { model } = await train(table, options);
  const text = change(model.toJson());
  expect(text).not.toBe(model.toJson());
  await expectError(() => Promise.resolve().then(() => readModel(text)), "FILE_FORMAT", words);
});

test("training continues a model, bit for bit", async () => {
  const first = await train(table, { ...options, parameters: { ...parameters, num_round: 2 } });
  const rest = await train(table, { ...options, parameters: { ...parameters, num_round: 3 }, start: first.model });
  const whole = await train(table, options);
  expect(rest.predictions).toEqual(whole.predictions);
});

test("rows that are held out decide when to stop, and are not trained on", async () => {
  const { metrics, model } = await train(table, {
    ...options,
    validationRows: rows.filter((i) => i % 4 === 0),
    parameters: { ...parameters, num_round: 50, early_stopping_rounds: 2 },
  });
  expect(metrics.validation).toHaveProperty("rmse");
  expect(model.treeCount).toBeLessThanOrEqual(50);
});

test("base margins are named again to predict", async () => {
  const columns = { base_margin: "weight" };
  const { model, predictions } = await train(table, { ...options, columns, features: ["age"] });
  expect(await model.predict(table, { base_margin: "weight" })).toEqual(predictions);
  await expectError(() => model.predict(table), "USAGE", /name their column in base_margin/);
});

test.each([
  ["a label that is not there", { label: "spend" }, "COLUMN_UNKNOWN", /no column 'spend'; did you mean 'spent'\?/],
  ["a label of text", { label: "colour" }, "CELL_UNPARSABLE", /^column 'colour', row 0: the cell is not a finite/],
  ["an unknown parameter", { parameters: { etaa: 1 } as object }, "USAGE", /unknown parameter 'etaa'/],
] as const)("refuses %s", async (_, wrong, code, words) => {
  await expectError(() => train(table, { ...options, ...wrong }), code, words);
});

test("an aborted training rejects with the signal's reason", async () => {
  const stop = new AbortController();
  const reason = new Error("enough");
  const training = train(table, { ...options, signal: stop.signal, onProgress: () => stop.abort(reason) });
  await expect(training).rejects.toBe(reason);
  await expect(train(table, { ...options, signal: stop.signal })).rejects.toBe(reason);
});
