/** Weights and margins of dart: tree-weights.ts, course.ts, size.ts. */
import { expect, test } from "vitest";
import { expectError } from "../../../../test/support/expect-error.ts";
import { resolveParameters } from "../../../base/parameters/parameters.ts";
import { trainingParameters } from "../../parameters/training-parameters.ts";
import type { Tree } from "../../tree/tree.ts";
import { withWeightsInLeaves } from "../../tree/weighted-trees.ts";
import { DartCourse } from "./course.ts";
import { checkDartSize } from "./size.ts";
import { weightsAfter } from "./tree-weights.ts";

const f = Math.fround;

test("weights are XGBoost's, to the last bit of float32", () => {
  const parameters = { eta: 0.3, normalize_type: "tree" } as const;
  expect(weightsAfter([1, 1], [], 2, parameters)).toEqual([1, 1, 1, 1]);
  expect(weightsAfter([1], [0], 1, parameters)).toEqual([f(1 / f(1 + f(0.3))), f(1 / f(1 + f(0.3)))]);
  const both = f(2 + f(f(0.3) / 3)); // three trees share the learning rate
  expect(weightsAfter([1, 0.5, 1], [0, 1], 3, parameters)).toEqual([
    f(2 / both),
    f(0.5 * f(2 / both)),
    1,
    ...new Array<number>(3).fill(f(1 / both)),
  ]);
  const factor = f(1 / (1 + f(0.3)));
  expect(weightsAfter([1, 1], [1], 1, { ...parameters, normalize_type: "forest" })).toEqual([1, factor, factor]);
});

const stump = (left: number, right: number): Tree<null> => [
  { kind: "split", left: 1, right: 2, gain: 1, cover: 2, count: 2, rule: null },
  { kind: "leaf", weight: left, cover: 1, count: 1 },
  { kind: "leaf", weight: right, cover: 1, count: 1 },
];

test("margins without the dropped trees, and with all trees at their new weights", async () => {
  const parameters = resolveParameters(trainingParameters, { booster: "dart", eta: 1 });
  const drops = [[], [0], [], [0, 2]];
  const course = new DartCourse(
    parameters,
    1,
    { start: Float64Array.of(10, 20), placed: [], weights: [] },
    (round) => drops[round],
  );
  const margins = Float64Array.of(10, 20);
  const grow = async (round: number, tree: Tree<null>): Promise<number[]> => {
    const boostedMargins = [...(await course.marginsForGradients(round, margins))];
    course.add(tree, Uint32Array.of(1, 2));
    await course.endBoostingRound(margins);
    expect(await course.margins()).toEqual(margins);
    return boostedMargins;
  };
  expect(await grow(0, stump(1, 2))).toEqual([10, 20]);
  expect(await grow(1, stump(4, 8))).toEqual([10, 20]);
  expect([...course.weights]).toEqual([0.5, 0.5]);
  expect([...margins]).toEqual([12.5, 25]);
  expect(await grow(2, stump(16, 32))).toEqual([12.5, 25]);
  expect([...margins]).toEqual([28.5, 57]);
  expect(await grow(3, stump(64, 128))).toEqual([12, 24]);
  const third = f(1 / 3);
  expect([...course.weights]).toEqual([f(0.5 * f(2 / 3)), 0.5, f(2 / 3), third]);

  const again = new DartCourse(parameters, 1, structuredClone(course.progress));
  expect(await again.margins()).toEqual(margins);
});

test("a tree with several outputs, and trees of one output each", async () => {
  const parameters = resolveParameters(trainingParameters, { booster: "dart", eta: 1 });
  const leaf = { kind: "leaf", cover: 1, count: 1 } as const;
  const joint = [{ ...leaf, weight: 3, weights: [3, 5] }];
  const start = { start: new Float64Array(4), placed: [], weights: [] };
  for (const [tree, wanted] of [
    [joint, [3, 5, 3, 5]],
    [[{ ...leaf, weight: 7 }], [7, 0, 7, 0]],
  ] as const) {
    const course = new DartCourse(parameters, 2, start, () => []);
    const margins = new Float64Array(4);
    await course.marginsForGradients(0, margins);
    course.add(tree, Uint32Array.of(0, 0));
    await course.endBoostingRound(margins);
    expect([...margins]).toEqual(wanted);
  }
});

test("weights are multiplied into leaves once, and only if there are any", () => {
  const model = { trees: [stump(1, 2), stump(4, 8)], treeWeights: [1, 0.25] };
  const weighted = withWeightsInLeaves<null, typeof model>(model);
  expect(weighted.trees.map((tree) => tree.flatMap((node) => (node.kind === "leaf" ? [node.weight] : [])))).toEqual([
    [1, 2],
    [1, 2],
  ]);
  expect(withWeightsInLeaves(weighted)).toBe(weighted);
});

test("a job that needs too much memory is rejected before training", async () => {
  const of = (given: object) => resolveParameters(trainingParameters, { booster: "dart", ...given });
  checkDartSize(of({ max_depth: 7 }), 1 << 20, 256);
  await expectError(() => checkDartSize(of({ max_depth: 7 }), 1 << 20, 257), "USAGE", /257 trees .* 257 MB.*or gbtree/);
  await expectError(() => checkDartSize(of({ max_depth: 8 }), 1 << 20, 129), "USAGE", /258 MB/);
  checkDartSize(of({ max_depth: 0, max_leaves: 128 }), 1 << 20, 256);
  checkDartSize(of({ booster: "gbtree" }), 1 << 30, 1000);
});
