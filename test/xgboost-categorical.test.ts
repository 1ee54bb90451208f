/**
 * Our plain trainer against XGBoost 1.7.4 (`hist`, `enable_categorical`) on categorical features, node for node. The
 * fixtures and what exactly is compared: test/fixtures/xgboost/README.md.
 */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { resolveParameters } from "../src/base/parameters/parameters.ts";
import { trainingParameters } from "../src/gbdt/parameters/training-parameters.ts";
import { binFeature } from "../src/gbdt/split/binning.ts";
import { binCategories } from "../src/gbdt/split/category-binning.ts";
import { predictMargins } from "../src/gbdt/tree/predict.ts";
import { type CategoryNames, columnTest, valueGoesLeft } from "../src/gbdt/split/split-test.ts";
import { trainCentralised } from "../src/gbdt/boost/train.ts";
import { quantiseFinely } from "./support/fine-grid.ts";
import { TrainingRows } from "../src/gbdt/rows/training-rows.ts";

interface GoldenTree {
  left: number[];
  right: number[];
  feature: number[];
  /** A leaf's weight where left is -1; null where categories are asked about. */
  threshold: (number | null)[];
  /** Codes that go right. */
  categories: (number[] | null)[];
  default_left: boolean[];
  gain: number[];
  cover: number[];
}

interface Golden {
  parameters: Record<string, number | string>;
  features: { name: string; categorical: boolean; values: (number | null)[] }[];
  labels: number[];
  trees: GoldenTree[];
  margins: number[];
}

const goldens = JSON.parse(
  readFileSync(new URL("fixtures/xgboost/categorical.json", import.meta.url), "utf8"),
) as Record<string, Golden>;

const nameOf = (code: number): string => `c${String(code).padStart(4, "0")}`;

async function trainOurs({ parameters: given, features, labels }: Golden) {
  const parameters = resolveParameters(trainingParameters, { ...given, enable_categorical: true });
  const columns = features.map(({ values }) => Float32Array.from(values, (value) => value ?? Number.NaN));
  const names = features.map(({ categorical, values }): CategoryNames =>
    categorical
      ? Array.from({ length: 1 + Math.max(...values.map((value) => value ?? 0)) }, (_, code) => nameOf(code))
      : null,
  );
  const binned = features.map(({ name }, i) =>
    names[i] === null
      ? binFeature(name, columns[i], parameters.max_bin)
      : binCategories(name, columns[i], names[i], parameters.max_cat_to_onehot),
  );
  binned.forEach(({ categories }, i) =>
    expect(categories ?? null, "the fixture's codes are by frequency").toEqual(names[i]),
  );
  const model = await trainCentralised({
    parties: [binned.slice(0, 1), binned.slice(1)],
    rows: new TrainingRows(Float64Array.from(labels)),
    parameters,
    quantise: quantiseFinely,
  });
  return { model, columns, names };
}

/** XGBoost's routing of the training rows: the rows of every node. */
function rowsOfNodes(tree: GoldenTree, columns: readonly Float32Array[], names: readonly CategoryNames[]): number[][] {
  const rows: number[][] = tree.left.map(() => []);
  for (let row = 0; row < columns[0].length; row++) {
    for (let id = 0; ;) {
      rows[id].push(row);
      if (tree.left[id] === -1) break;
      const feature = tree.feature[id];
      const defaultLeft = tree.default_left[id];
      const right = tree.categories[id];
      const asked =
        right === null
          ? { threshold: tree.threshold[id] ?? 0, defaultLeft }
          : { categories: right.map(nameOf), defaultLeft };
      id = valueGoesLeft(asked, columns[feature][row], names[feature]) ? tree.left[id] : tree.right[id];
    }
  }
  return rows;
}

describe("the plain trainer equals XGBoost 1.7.4 on categories", () => {
  test.each(Object.keys(goldens))("%s", async (name) => {
    const golden = goldens[name];
    const { model, columns, names } = await trainOurs(golden);
    expect(model.trees).toHaveLength(golden.trees.length);
    golden.trees.forEach((theirs, t) => {
      const rows = rowsOfNodes(theirs, columns, names);
      expect(model.trees[t]).toHaveLength(theirs.left.length);
      model.trees[t].forEach((node, id) => {
        const where = `tree ${t}, node ${id}`;
        expect(node.count, where).toBe(rows[id].length);
        expect(Math.abs(node.cover - theirs.cover[id]), where).toBeLessThan(1e-4 * (1 + node.cover));
        expect(node.kind, where).toBe(theirs.left[id] === -1 ? "leaf" : "split");
        if (node.kind === "leaf") {
          expect(Math.abs(node.weight - (theirs.threshold[id] ?? 0)), where).toBeLessThan(
            1e-5 * (1 + Math.abs(node.weight)),
          );
          return;
        }
        const feature = theirs.feature[id];
        expect(Math.abs(node.gain - theirs.gain[id]), where).toBeLessThan(1e-3 + 1e-4 * node.gain);
        expect(node.rule.owner + node.rule.feature, where).toBe(feature);
        const goesLeft = columnTest(node.rule, names[feature]);
        expect(
          rows[id].filter((row) => goesLeft(columns[feature][row])),
          where,
        ).toEqual(rows[theirs.left[id]]);
        expect(node.rule.categories, where).toEqual(theirs.categories[id]?.map(nameOf));
        if (rows[id].some((row) => Number.isNaN(columns[feature][row])))
          expect(node.rule.defaultLeft, where).toBe(theirs.default_left[id]);
      });
    });
    const margins = predictMargins(model, [columns.slice(0, 1), columns.slice(1)], golden.labels.length, [
      names.slice(0, 1),
      names.slice(1),
    ]);
    expect(margins).toEqual(model.trainMargins);
    golden.margins.forEach((margin, row) =>
      expect(Math.abs(margins[row] - margin), `margin of row ${row}`).toBeLessThan(1e-5 * (1 + Math.abs(margin))),
    );
  });

  test("the fixtures have both directions of missing values, sets of all sizes, single categories", () => {
    const splits = Object.values(goldens).flatMap(({ trees }) =>
      trees.flatMap((tree) =>
        tree.categories.flatMap((categories, id) =>
          categories === null ? [] : [{ size: categories.length, left: tree.default_left[id] }],
        ),
      ),
    );
    expect(splits.filter(({ left }) => left).length).toBeGreaterThan(30);
    expect(splits.filter(({ left }) => !left).length).toBeGreaterThan(30);
    for (const size of [1, 2, 3, 4, 5, 6, 7])
      expect(splits.filter((split) => split.size === size).length, String(size)).toBeGreaterThan(1);
  });
});
