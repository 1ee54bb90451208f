/**
 * Our plain trainer against XGBoost 1.7.4 (`hist`), node for node. The fixtures and what exactly is compared:
 * test/fixtures/xgboost/README.md.
 */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { resolveParameters } from "../src/base/parameters/parameters.ts";
import { trainingParameters } from "../src/gbdt/parameters/training-parameters.ts";
import { binFeature } from "../src/gbdt/split/binning.ts";
import { selectMargins } from "../src/gbdt/boost/boosting-monitor.ts";
import { otherRows } from "../src/base/rows/row-numbers.ts";
import { Evaluation } from "../src/gbdt/metric/evaluation.ts";
import type { MetricName } from "../src/gbdt/metric/metrics.ts";
import { logloss } from "../src/gbdt/metric/elementwise-metrics.ts";
import type { ObjectiveName } from "../src/gbdt/objective/objectives.ts";
import { predictMargins } from "../src/gbdt/tree/predict.ts";
import { trainCentralised } from "../src/gbdt/boost/train.ts";
import { valueGoesLeft } from "../src/gbdt/split/split-test.ts";
import { leafOf, type SplitRule } from "../src/gbdt/tree/tree.ts";
import { quantiseFinely } from "./support/fine-grid.ts";
import { compareTrees, type GoldenTree, rowsOfNodes } from "./support/golden-trees.ts";
import { TrainingRows } from "../src/gbdt/rows/training-rows.ts";

interface Golden {
  parameters: Record<string, number | string>;
  features: { name: string; values: (number | null)[] }[];
  labels: number[];
  weights?: number[];
  monotone?: number[];
  interactions?: number[][];
  trees: GoldenTree[];
  margins: number[];
}

const cases = [
  "logistic-dense",
  "logistic-missing",
  "logistic-depth5-mcw",
  "logistic-gamma-lambda0",
  "logistic-gamma-missing",
  "squared-dense",
  "squared-missing",
  "squared-stumps",
  "squared-gamma",
  "logistic-alpha",
  "logistic-step",
  "logistic-weights",
  "squared-weights",
  "huber",
  "poisson",
  "softprob",
  "lossguide",
  "monotone",
  "monotone-alpha",
  "depthwise-leaves",
  "forest",
  "interactions",
  "interactions-alone",
  "quantile-dense",
  "quantile-missing",
];

/** Mirrored splits per case (see compareSplit); only these fixtures have some. */
const mirroredSplits: Record<string, number> = {
  "quantile-missing": 1,
  "squared-weights": 1,
  huber: 1,
  poisson: 2,
  monotone: 2,
  "monotone-alpha": 5,
};

function load(name: string): Golden {
  const golden = JSON.parse(readFileSync(new URL(`fixtures/xgboost/${name}.json`, import.meta.url), "utf8")) as Golden;
  // The fixtures hold the shortest decimals of float32 numbers.
  return { ...golden, trees: golden.trees.map((tree) => ({ ...tree, threshold: tree.threshold.map(Math.fround) })) };
}

function rowsWith(labels: readonly number[], weights: readonly number[] | null = null): TrainingRows {
  const columns = weights === null ? {} : { weight: Float64Array.from(weights) };
  return new TrainingRows(Float64Array.from(labels), { columns });
}

/** The features split over three parties in order, so that (owner, feature) order is XGBoost's feature order. */
async function trainOurs(golden: Golden) {
  const columns = golden.features.map((f) => Float32Array.from(f.values, (value) => value ?? NaN));
  const parameters = resolveParameters(trainingParameters, golden.parameters);
  const firstOf = [0, Math.ceil(columns.length / 3), Math.ceil((2 * columns.length) / 3), columns.length];
  const owners = [0, 1, 2];
  const columnsOf = owners.map((owner) => columns.slice(firstOf[owner], firstOf[owner + 1]));
  const model = await trainCentralised({
    parties: columnsOf.map((own, owner) =>
      own.map((values, j) => ({
        ...binFeature(golden.features[firstOf[owner] + j].name, values, parameters.max_bin),
        monotone: golden.monotone?.[firstOf[owner] + j] ?? 0,
        ...groupsOf(golden, firstOf[owner] + j),
      })),
    ),
    rows: rowsWith(golden.labels, golden.weights),
    parameters,
    quantise: quantiseFinely,
  });
  return { model, columns, columnsOf, featureIndex: (rule: SplitRule) => firstOf[rule.owner] + rule.feature };
}

function groupsOf({ interactions }: Golden, feature: number): { readonly groups?: number } {
  if (interactions === undefined) return {};
  return { groups: interactions.reduce((bits, group, i) => bits | (group.includes(feature) ? 1 << i : 0), 0) };
}

describe("the plain trainer equals XGBoost 1.7.4", () => {
  it.each(cases)("%s", async (name) => {
    const golden = load(name);
    const { model, columns, columnsOf, featureIndex } = await trainOurs(golden);
    expect(model.trees.length).toBe(golden.trees.length);
    let mirroredCount = 0;
    golden.trees.forEach((theirs, t) => {
      const rows = rowsOfNodes(theirs, columns);
      mirroredCount += compareTrees({ ours: model.trees[t], theirs, rows, columns, featureIndex });
    });
    expect(mirroredCount).toBe(mirroredSplits[name] ?? 0);
    const margins = predictMargins(model, columnsOf, golden.labels.length);
    expect(margins).toEqual(model.trainMargins);
    golden.margins.forEach((margin, row) => {
      expect(Math.abs(margins[row] - margin), `margin of row ${row}`).toBeLessThan(1e-5 * (1 + Math.abs(margin)));
    });
  });

  it("covers both default directions, gamma and min_child_weight that bind, all depths", async () => {
    const splits = cases.flatMap((name) => {
      const { features, trees } = load(name);
      const hasMissing = features.some((feature) => feature.values.includes(null));
      return trees.flatMap((tree) => tree.left.map((left, id) => ({ left, id, tree, hasMissing })));
    });
    const real = splits.filter(({ left, hasMissing }) => left !== -1 && hasMissing);
    expect(real.filter(({ tree, id }) => tree.default_left[id]).length).toBeGreaterThan(20);
    expect(real.filter(({ tree, id }) => !tree.default_left[id]).length).toBeGreaterThan(20);
    const depths = cases.map((name) => Number(load(name).parameters["max_depth"]));
    expect(new Set(depths)).toEqual(new Set([1, 3, 4, 5, 6]));
    for (const name of ["logistic-gamma-lambda0", "squared-gamma", "logistic-gamma-missing"]) {
      const { model } = await trainOurs({ ...load(name), parameters: { ...load(name).parameters, gamma: 0 } });
      expect(model.trees[0].length, name).toBeGreaterThan(load(name).trees[0].left.length);
    }
    for (const name of ["logistic-depth5-mcw", "squared-missing"]) {
      const { model } = await trainOurs({
        ...load(name),
        parameters: { ...load(name).parameters, min_child_weight: 0 },
      });
      expect(model.trees[0].length, name).toBeGreaterThan(load(name).trees[0].left.length);
    }
  });

  it("sends every training row to the leaf that its bin said", async () => {
    const { model, columnsOf } = await trainOurs(load("quantile-missing"));
    const tree = model.trees[0];
    const counts = new Map<number, number>();
    for (let row = 0; row < columnsOf[0][0].length; row++) {
      const leaf = leafOf(tree, (rule) => valueGoesLeft(rule, columnsOf[rule.owner][rule.feature][row]));
      counts.set(leaf, (counts.get(leaf) ?? 0) + 1);
    }
    for (const [leaf, count] of counts) expect(tree[leaf].count).toBe(count);
  });
});

interface GoldenMetrics {
  margins: number[];
  /** Three classes. */
  wide: number[];
  figures: { objective: ObjectiveName; labels: number[]; weights: number[] | null; metrics: Record<string, number> }[];
}

describe("the metrics equal XGBoost 1.7.4's", () => {
  const { margins, wide, figures } = JSON.parse(
    readFileSync(new URL("fixtures/xgboost/metrics.json", import.meta.url), "utf8"),
  ) as GoldenMetrics;
  it.each(figures)("$objective, weights or none", ({ objective, labels, weights, metrics }) => {
    const evaluation = new Evaluation(
      resolveParameters(trainingParameters, { objective }),
      Float64Array.from(objective === "multi:softprob" ? wide : margins),
      rowsWith(labels, weights),
    );
    expect(Object.keys(metrics).length).toBeGreaterThan(1);
    for (const [name, figure] of Object.entries(metrics)) {
      const ours = evaluation.value(name as MetricName);
      expect(Math.abs(ours - figure), `${name}: ${ours} and ${figure}`).toBeLessThan(1e-5 * (1 + figure));
    }
  });
});

interface GoldenEarly {
  parameters: Record<string, number | string>;
  features: { name: string; values: (number | null)[] }[];
  labels: number[];
  validation: number[];
  best_iteration: number;
  logloss: number[];
}

it("early stopping: the validation metric of every round, and the best of them, are XGBoost's", async () => {
  const golden = JSON.parse(
    readFileSync(new URL("fixtures/xgboost/early.json", import.meta.url), "utf8"),
  ) as GoldenEarly;
  const parameters = resolveParameters(trainingParameters, { ...golden.parameters, eval_metric: "logloss" });
  const labels = Float64Array.from(golden.labels);
  const validationRows = Uint32Array.from(golden.validation);
  const training = otherRows(validationRows, labels.length);
  const features = golden.features.map(({ name, values }) =>
    binFeature(
      name,
      Float32Array.from(values, (value) => value ?? NaN),
      parameters.max_bin,
      training,
    ),
  );
  const seen: number[] = [];
  const model = await trainCentralised({
    parties: [features],
    rows: new TrainingRows(labels, { validation: validationRows }),
    parameters,
    quantise: quantiseFinely,
    onTree: (_tree, _index, margins) =>
      seen.push(
        logloss(
          selectMargins(margins, validationRows, 1).map((m) => 1 / (1 + Math.exp(-m))),
          Array.from(validationRows, (row) => labels[row]),
        ),
      ),
  });
  expect(model.trees).toHaveLength(golden.best_iteration + 1);
  expect(seen).toHaveLength(golden.logloss.length);
  golden.logloss.forEach((value, round) =>
    expect(Math.abs(seen[round] - value), `round ${round}`).toBeLessThan(1e-4 * value),
  );
});
