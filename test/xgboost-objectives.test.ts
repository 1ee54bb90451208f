/**
 * Objectives and metrics against XGBoost 2.1.4 (`hist`), node for node: test/fixtures/xgboost/make_objectives.py. What
 * is compared, and how closely, is said in the README.md beside it.
 */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { resolveParameters } from "../src/base/parameters/parameters.ts";
import { trainingParameters } from "../src/gbdt/parameters/training-parameters.ts";
import { rowColumnNames, type RowColumns } from "../src/base/rows/row-columns.ts";
import { trainCentralised } from "../src/gbdt/boost/train.ts";
import { Evaluation } from "../src/gbdt/metric/evaluation.ts";
import { fitsObjective, metricFor, type MetricName } from "../src/gbdt/metric/metrics.ts";
import { binFeature } from "../src/gbdt/split/binning.ts";
import { toPredictions, predictMargins } from "../src/gbdt/tree/predict.ts";
import { quantiseFinely } from "./support/fine-grid.ts";
import { logCosh } from "./support/log-cosh.ts";
import { compareTrees, type GoldenTree, rowsOfNodes } from "./support/golden-trees.ts";
import { TrainingRows } from "../src/gbdt/rows/training-rows.ts";

interface Golden {
  parameters: Record<string, number | string | number[]>;
  features: { name: string; values: number[] }[];
  labels: number[];
  weights?: number[];
  base_margin?: number[];
  label_upper_bound?: (number | null)[];
  qid?: number[];
  trees: GoldenTree[];
  margins: number[];
  predictions: number[];
  metrics: Record<string, number>;
}

const goldens = JSON.parse(
  readFileSync(new URL("fixtures/xgboost/objectives.json", import.meta.url), "utf8"),
) as Record<string, Golden>;

/** The columns that a case has; null stands for infinity. */
const columnsOf = (golden: Golden): RowColumns =>
  Object.fromEntries(
    rowColumnNames.flatMap((name) => {
      const numbers = name === "weight" ? golden.weights : golden[name];
      return numbers === undefined ? [] : [[name, Float64Array.from(numbers, (value) => value ?? Infinity)]];
    }),
  );

function expectNear(ours: ArrayLike<number>, theirs: readonly number[], what: string): void {
  expect(ours.length).toBe(theirs.length);
  theirs.forEach((value, i) => {
    expect(Math.abs(ours[i] - value), `${what} ${i}: ${ours[i]} and ${value}`).toBeLessThan(
      1e-5 * (1 + Math.abs(value)),
    );
  });
}

describe("objectives equal XGBoost 2.1.4's", () => {
  it.each(Object.keys(goldens))("%s", async (name) => {
    const golden = goldens[name];
    const parameters = resolveParameters(trainingParameters, golden.parameters);
    const columns = golden.features.map(({ values }) => Float32Array.from(values));
    const labels = Float64Array.from(golden.labels);
    const custom = name.endsWith("custom") ? logCosh : null;
    const rows = new TrainingRows(labels, { columns: columnsOf(golden), custom });
    const model = await trainCentralised({
      parties: [golden.features.map((feature, j) => binFeature(feature.name, columns[j], parameters.max_bin))],
      rows,
      parameters,
      quantise: quantiseFinely,
    });
    expect(model.trees.length).toBe(golden.trees.length);
    golden.trees.forEach((tree, t) => {
      const theirs = { ...tree, threshold: tree.threshold.map(Math.fround) };
      const ofNodes = rowsOfNodes(theirs, columns);
      compareTrees({ ours: model.trees[t], theirs, rows: ofNodes, columns, featureIndex: ({ feature }) => feature });
    });
    const margins = predictMargins(model, [columns], labels.length, [], rows.columns.base_margin);
    expect(margins).toEqual(model.trainMargins);
    expectNear(margins, golden.margins, "margin");
    expectNear(toPredictions(model, margins), golden.predictions, "prediction");
    const evaluation = new Evaluation(parameters, margins, rows);
    for (const [metric, value] of Object.entries(golden.metrics)) {
      expect(fitsObjective(metricFor(metric as MetricName), parameters), metric).toBe(true);
      expectNear([evaluation.value(metric as MetricName)], [value], metric);
    }
  });
});
