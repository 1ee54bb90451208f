/** Booster dart against XGBoost 1.7.4, node for node and weight for weight: test/fixtures/xgboost/make_dart.py. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { resolveParameters } from "../src/base/parameters/parameters.ts";
import { trainingParameters } from "../src/gbdt/parameters/training-parameters.ts";
import { trainCentralised, type TrainedModel } from "../src/gbdt/boost/train.ts";
import { binFeature } from "../src/gbdt/split/binning.ts";
import { predictMargins } from "../src/gbdt/tree/predict.ts";
import { quantiseFinely } from "./support/fine-grid.ts";
import { compareTrees, type GoldenTree, rowsOfNodes } from "./support/golden-trees.ts";
import { TrainingRows } from "../src/gbdt/rows/training-rows.ts";

interface Golden {
  name: string;
  parameters: Record<string, number | string>;
  features: { name: string; values: (number | null)[] }[];
  labels: number[];
  trees: GoldenTree[];
  /** After each round. */
  weights: number[][];
  drops: number[][];
  margins: number[];
}
const cases = (
  JSON.parse(readFileSync(new URL("fixtures/xgboost/dart.json", import.meta.url), "utf8")) as readonly Golden[]
).map((golden) => ({
  ...golden,
  trees: golden.trees.map((tree) => ({ ...tree, threshold: tree.threshold.map(Math.fround) })),
  columns: golden.features.map(({ values }) => Float32Array.from(values, (value) => value ?? Number.NaN)),
}));

type Case = (typeof cases)[number];

/** @param drops XGBoost's own; left out: what our draw drops */
function trained(golden: Case, drops?: readonly (readonly number[])[]): Promise<TrainedModel> {
  const parameters = resolveParameters(trainingParameters, { ...golden.parameters, booster: "dart" });
  return trainCentralised({
    parties: [golden.columns.map((values, i) => binFeature(golden.features[i].name, values, parameters.max_bin)), []],
    rows: new TrainingRows(Float64Array.from(golden.labels)),
    parameters,
    quantise: quantiseFinely,
    ...(drops === undefined ? {} : { drops: (round: number) => drops[round] }),
  });
}

function expectSame(golden: Case, model: TrainedModel): void {
  expect(model.trees).toHaveLength(golden.trees.length);
  golden.trees.forEach((theirs, t) => {
    const rows = rowsOfNodes(theirs, golden.columns);
    const { columns } = golden;
    const mirrored = compareTrees({
      ours: model.trees[t],
      theirs,
      rows,
      columns,
      featureIndex: (rule) => rule.feature,
    });
    expect(mirrored, `tree ${t}`).toBe(0);
  });
  expect(model.treeWeights).toEqual(golden.weights[golden.weights.length - 1].map(Math.fround));
  const margins = predictMargins(model, [golden.columns, []], golden.labels.length);
  expect(margins).toEqual(model.trainMargins);
  golden.margins.forEach((margin, row) =>
    expect(Math.abs(margins[row] - margin), `row ${row}`).toBeLessThan(1e-5 * Math.max(1, Math.abs(margin))),
  );
}

describe("booster dart equals XGBoost's", () => {
  const certain = cases.filter(({ name }) => name.startsWith("all") || name === "one, of one");
  test.each(certain.map((golden) => [golden.name, golden] as const))(
    "%s: nothing is left to chance",
    async (_, golden) => {
      expectSame(golden, await trained(golden));
    },
  );

  const drawn = cases.filter((golden) => !certain.includes(golden));
  test.each(drawn.map((golden) => [golden.name, golden] as const))("%s, with XGBoost's drops", async (_, golden) => {
    expectSame(golden, await trained(golden, golden.drops));
  });

  test("cases drop no tree, one, and some", () => {
    const counts = cases.flatMap(({ drops }) => drops.slice(1).map(({ length }) => length));
    for (const count of [0, 1, 2, 3]) expect(counts).toContain(count);
  });
});
