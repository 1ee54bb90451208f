/**
 * Counts in a job that hides sums, against XGBoost 1.7.4 (`hist`), node for node. There max_delta_step, which
 * count:poisson sets to 0.7, limits leaf weights and not gains: test/fixtures/xgboost/make_hidden_counts.py.
 */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { resolveParameters } from "../src/base/parameters/parameters.ts";
import { type Quantise, trainCentralised } from "../src/gbdt/boost/train.ts";
import { trainingParameters } from "../src/gbdt/parameters/training-parameters.ts";
import { TrainingRows } from "../src/gbdt/rows/training-rows.ts";
import { binFeature } from "../src/gbdt/split/binning.ts";
import { noDefences } from "../src/privacy/defences/defences.ts";
import { compareTrees, type GoldenTree, rowsOfNodes } from "./support/golden-trees.ts";

interface Golden {
  parameters: Record<string, number | string>;
  features: { name: string; values: number[] }[];
  labels: number[];
  trees: GoldenTree[];
  margins: number[];
  /** How many trees XGBoost's own count:poisson grows alike, from the first on. */
  poisson: number;
}

const goldens = JSON.parse(
  readFileSync(new URL("fixtures/xgboost/hidden-counts.json", import.meta.url), "utf8"),
) as Record<string, Golden>;

/** As fine as sums below 2^32 allow: the rule compares integers of 32 bits. */
const quantise: Quantise = ({ values }) => {
  const resolution = 2 ** -20;
  return {
    instanceCount: values[0].length,
    grids: values.map(() => ({ shift: 0, resolution })),
    columns: values.map((column) => column.map((value) => Math.round(value / resolution))),
  };
};

test.each(Object.keys(goldens))("counts with hidden sums: %s", async (name) => {
  const { parameters: given, features, labels, trees, margins, poisson } = goldens[name];
  const parameters = resolveParameters(trainingParameters, given);
  const columns = features.map(({ values }) => Float32Array.from(values));
  const train = (hidesSums: boolean): ReturnType<typeof trainCentralised> =>
    trainCentralised({
      parties: [features.map((feature, j) => binFeature(feature.name, columns[j], parameters.max_bin))],
      rows: new TrainingRows(Float64Array.from(labels)),
      parameters,
      quantise,
      defences: { ...noDefences, hidden_sums: hidesSums },
    });
  const model = await train(true);
  expect(model.trees.length).toBe(trees.length);
  const compare = (ours: (typeof model.trees)[number], tree: GoldenTree): void => {
    const theirs = { ...tree, threshold: tree.threshold.map(Math.fround) };
    const rows = rowsOfNodes(theirs, columns);
    compareTrees({ ours, theirs, rows, columns, featureIndex: ({ feature }) => feature });
  };
  trees.forEach((tree, t) => compare(model.trees[t], tree));
  margins.forEach((margin, row) => expect(Math.abs(model.trainMargins[row] - margin)).toBeLessThan(1e-4));

  // Without hidden sums the gains are XGBoost's own, with the limit: equal as far as count:poisson itself is.
  const open = await train(false);
  trees.slice(0, poisson).forEach((tree, t) => compare(open.trees[t], tree));
  if (poisson < trees.length) expect(() => compare(open.trees[poisson], trees[poisson])).toThrow("expected");
});
