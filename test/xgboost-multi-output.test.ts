/**
 * Trees with a weight per class in each leaf against XGBoost 2.1.4 and 3.2.0, which agree (`hist`), node for node:
 * test/fixtures/xgboost/make_multi_output.py. What is compared, and how closely, is said in the README.md beside it.
 */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { resolveParameters } from "../src/base/parameters/parameters.ts";
import { trainCentralised } from "../src/gbdt/boost/train.ts";
import { trainingParameters } from "../src/gbdt/parameters/training-parameters.ts";
import { TrainingRows } from "../src/gbdt/rows/training-rows.ts";
import { binFeature } from "../src/gbdt/split/binning.ts";
import { quantiseFinely } from "./support/fine-grid.ts";
import { compareTrees, type GoldenTree, rowsOfNodes } from "./support/golden-trees.ts";

interface Golden {
  parameters: Record<string, number | string>;
  features: { name: string; values: (number | null)[] }[];
  labels: number[];
  trees: GoldenTree[];
  margins: number[];
}

const goldens = JSON.parse(
  readFileSync(new URL("fixtures/xgboost/multi-output.json", import.meta.url), "utf8"),
) as Record<string, Golden>;

describe("multi_output_tree equals XGBoost's", () => {
  it.each(Object.keys(goldens))("%s", async (name) => {
    const golden = goldens[name];
    const parameters = resolveParameters(trainingParameters, golden.parameters);
    const columns = golden.features.map(({ values }) => Float32Array.from(values, (value) => value ?? NaN));
    const model = await trainCentralised({
      parties: [golden.features.map((feature, j) => binFeature(feature.name, columns[j], parameters.max_bin))],
      rows: new TrainingRows(Float64Array.from(golden.labels)),
      parameters,
      quantise: quantiseFinely,
    });
    expect(model.trees.length).toBe(golden.trees.length);
    golden.trees.forEach((tree, t) => {
      const theirs = { ...tree, threshold: tree.threshold.map(Math.fround) };
      const rows = rowsOfNodes(theirs, columns);
      compareTrees({ ours: model.trees[t], theirs, rows, columns, featureIndex: ({ feature }) => feature });
    });
    golden.margins.forEach((margin, i) => {
      expect(Math.abs(model.trainMargins[i] - margin), `margin ${i}`).toBeLessThan(1e-5 * (1 + Math.abs(margin)));
    });
  });
});
