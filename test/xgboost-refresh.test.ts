/** Refreshed leaves against XGBoost 1.7.4 (updater=refresh): test/fixtures/xgboost/make_refresh.py. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { resolveParameters } from "../src/base/parameters/parameters.ts";
import { trainingParameters } from "../src/gbdt/parameters/training-parameters.ts";
import { BoostingTask } from "../src/gbdt/boost/boosting-task.ts";
import { refreshTrees } from "../src/gbdt/boost/refresh.ts";
import { valueGoesLeft } from "../src/gbdt/split/split-test.ts";
import { leafOf, type SplitRule, type Tree, type TreeNode } from "../src/gbdt/tree/tree.ts";
import { TrainingRows } from "../src/gbdt/rows/training-rows.ts";

interface GoldenTree {
  left: number[];
  right: number[];
  feature: number[];
  threshold: number[];
  default_left: boolean[];
  gain: number[];
  cover: number[];
}
interface Golden {
  name: string;
  parameters: Record<string, number | string>;
  refresh_leaf: number;
  features: { values: (number | null)[] }[];
  labels: number[];
  base_margin?: number[];
  trees: GoldenTree[];
  refreshed: GoldenTree[];
  margins: number[];
}
const cases = JSON.parse(
  readFileSync(new URL("fixtures/xgboost/refresh.json", import.meta.url), "utf8"),
) as readonly Golden[];

const ours = (tree: GoldenTree): Tree<SplitRule> =>
  tree.left.map((left, id): TreeNode<SplitRule> => {
    const [cover, gain, value] = [tree.cover[id], tree.gain[id], Math.fround(tree.threshold[id])];
    if (left === -1) return { kind: "leaf", weight: value, cover, count: 0 };
    const rule = { owner: 0, feature: tree.feature[id], featureName: "", threshold: value };
    const split = { ...rule, defaultLeft: tree.default_left[id] };
    return { kind: "split", left, right: tree.right[id], gain, cover, count: 0, rule: split };
  });

test.each(cases.map((golden) => [golden.name, golden] as const))("%s", (_name, golden) => {
  const parameters = resolveParameters(trainingParameters, golden.parameters);
  const columns = golden.features.map(({ values }) => Float32Array.from(values, (value) => value ?? Number.NaN));
  const starts = golden.base_margin && { base_margin: Float64Array.from(golden.base_margin) };
  const task = new BoostingTask(
    parameters,
    new TrainingRows(Float64Array.from(golden.labels), { columns: starts }),
    false,
  );
  // XGBoost has all trees of a class beside each other, we have the classes of a tree.
  const perRound = task.treeOutputs.length;
  expect(parameters.num_parallel_tree === 1 || perRound === 1).toBe(true);
  const model = { trees: golden.trees.map(ours), baseMargin: task.baseMargin() };
  const leavesOf = (index: number): Uint32Array =>
    Uint32Array.from(golden.labels, (_, row) =>
      leafOf(model.trees[index], (rule) => valueGoesLeft(rule, columns[rule.feature][row])),
    );
  const { trees, margins } = refreshTrees(model, task, parameters, leavesOf, golden.refresh_leaf === 1);
  let changed = 0;
  trees.forEach((tree, index) => {
    const theirs = golden.refreshed[index];
    tree.forEach((node, id) => {
      const close = (got: number, wanted: number): void =>
        expect(Math.abs(got - wanted), `tree ${index}, node ${id}`).toBeLessThan(1e-4 * Math.max(1, Math.abs(wanted)));
      close(node.cover, theirs.cover[id]);
      if (node.kind === "split") close(node.gain, theirs.gain[id]);
      else close(node.weight, theirs.threshold[id]);
      const before = model.trees[index][id];
      if (node.kind === "leaf" && before.kind === "leaf" && node.weight !== before.weight) changed++;
    });
  });
  expect(changed > 0).toBe(golden.refresh_leaf === 1);
  margins.forEach((margin, i) => expect(Math.abs(margin - golden.margins[i])).toBeLessThan(1e-4));
});
