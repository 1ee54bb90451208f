import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SeededRandom } from "../../base/random.ts";
import type { Tree, TreeNode } from "../tree/tree.ts";
import { contributionsOf, playersBy } from "./contributions.ts";
import { gaussLegendre } from "./gauss-legendre.ts";

type Rule = { readonly feature: number };

/** A tree of random shape, covers and weights, with splits on `featureCount` features. */
function randomTree(random: SeededRandom, depth: number, features: number, outputs = 1): Tree<Rule> {
  const nodes: TreeNode<Rule>[] = [];
  const grow = (cover: number, level: number): number => {
    const id = nodes.push({ kind: "leaf", weight: 0, cover, count: 1 }) - 1;
    if (level === depth || (level > 0 && random.uniform() < 0.15)) {
      const weights = Array.from({ length: outputs }, () => random.normal());
      nodes[id] = { kind: "leaf", weight: weights[0], ...(outputs > 1 ? { weights } : {}), cover, count: 1 };
      return id;
    }
    const part = 0.05 + 0.9 * random.uniform();
    const rule = { feature: random.below(features) };
    const [left, right] = [grow(cover * part, level + 1), grow(cover * (1 - part), level + 1)];
    nodes[id] = { kind: "split", left, right, gain: 1, cover, count: 1, rule };
    return id;
  };
  grow(100, 0);
  return nodes;
}

/** A split per feature, each below the last one. */
function chain(features: number): Tree<Rule> {
  const random = new SeededRandom("shap-chain");
  const nodes: TreeNode<Rule>[] = [];
  for (let level = 0; level < features; level++) {
    const [id, cover] = [2 * level, 1000 * 0.9 ** level];
    nodes[id] = { kind: "split", left: id + 1, right: id + 2, gain: 1, cover, count: 1, rule: { feature: level } };
    nodes[id + 1] = { kind: "leaf", weight: random.normal(), cover: cover * 0.1, count: 1 };
    nodes[id + 2] = { kind: "leaf", weight: random.normal(), cover: cover * 0.9, count: 1 };
  }
  return nodes;
}

/** The splits of a feature have different thresholds: a row answers each node independently. */
const goesLeft = (tree: number, node: number, row: number): boolean =>
  ((tree * 7 + node * 13 + row * 5) % 11) % 2 === 0;

/** By definition: all sets of features, and the tree's mean where a feature is not among them. */
function byDefinition(tree: Tree<Rule>, index: number, row: number, features: number, output: number): number[] {
  const worth = (set: number, id = 0): number => {
    const node = tree[id];
    if (node.kind === "leaf") return node.weights?.[output] ?? node.weight;
    if ((set >> node.rule.feature) & 1) return worth(set, goesLeft(index, id, row) ? node.left : node.right);
    const [left, right] = [node.left, node.right];
    return (tree[left].cover * worth(set, left) + tree[right].cover * worth(set, right)) / node.cover;
  };
  const factorial = (n: number): number => (n < 2 ? 1 : n * factorial(n - 1));
  const values = Array.from({ length: features }, (_, i) => {
    let sum = 0;
    for (let set = 0; set < 1 << features; set++) {
      if ((set >> i) & 1) continue;
      const size = set.toString(2).replaceAll("0", "").length;
      const weight = (factorial(size) * factorial(features - size - 1)) / factorial(features);
      sum += weight * (worth(set | (1 << i)) - worth(set));
    }
    return sum;
  });
  return [...values, worth(0)];
}

/** @param features players: splits on others take no part */
async function explained(trees: readonly Tree<Rule>[], features: number, rows: number, outputCount = 1, scale = 1) {
  const values = await contributionsOf(
    {
      trees,
      outputCount,
      columnCount: features,
      range: { first: 0, end: trees.length },
      playersOf: (tree) =>
        playersBy(
          trees[tree],
          ({ feature }) => (feature < features ? feature : null),
          ({ feature }) => feature,
        ),
      scaleOf: () => scale,
      goesLeft,
    },
    rows,
    (row, output) => row + 10 * output,
  );
  const width = features + 1;
  return (row: number, output = 0): number[] =>
    Array.from(values.subarray((row * outputCount + output) * width, (row * outputCount + output + 1) * width));
}

const closeTo = (expected: readonly number[]): unknown[] =>
  expected.map((value) => expect.closeTo(value, 10) as unknown);

describe("values are Shapley's, by definition", () => {
  test("of some of the features, where splits on others take no part", async () => {
    const random = new SeededRandom("shap-absent");
    for (let i = 0; i < 20; i++) {
      const present = random.below(4);
      const tree = randomTree(random, 4, 5);
      const of = await explained([tree], present, 3);
      for (let row = 0; row < 3; row++) {
        const expected = byDefinition(tree, 0, row, present, 0);
        expected[present] += row;
        expect(of(row)).toEqual(closeTo(expected));
      }
    }
  });

  test("of trees of any shape, with features that occur several times on a path", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 1e6 }), fc.integer({ min: 0, max: 5 }), async (seed, depth) => {
        const random = new SeededRandom(`shap-${seed}`);
        const features = 1 + random.below(6);
        const tree = randomTree(random, depth, features);
        const of = await explained([tree], features, 4);
        for (let row = 0; row < 4; row++) {
          const expected = byDefinition(tree, 0, row, features, 0);
          expected[features] += row; // the base
          expect(of(row)).toEqual(closeTo(expected));
        }
      }),
      { numRuns: 40 },
    );
  });

  test("of paths with more players than a table has room for", async () => {
    const tree = chain(12);
    for (const row of [0, 1]) {
      const expected = byDefinition(tree, 0, row, 12, 0);
      expected[12] += row;
      expect((await explained([tree], 12, 2))(row)).toEqual(closeTo(expected));
    }
  });

  test("of several outputs, with one tree per output or vector leaves, scaled", async () => {
    const random = new SeededRandom("shap-outputs");
    const turns = Array.from({ length: 4 }, () => randomTree(random, 3, 3));
    const of = await explained(turns, 3, 2, 2, 0.5);
    for (const output of [0, 1]) {
      const parts = [output, output + 2].map((tree) => byDefinition(turns[tree], tree, 1, 3, 0));
      const expected = parts[0].map((value, i) => 0.5 * (value + parts[1][i]));
      expected[3] += 1 + 10 * output;
      expect(of(1, output)).toEqual(closeTo(expected));
    }
    const vector = randomTree(random, 3, 3, 2);
    const both = await explained([vector], 3, 1, 2);
    const second = byDefinition(vector, 0, 0, 3, 1);
    second[3] += 10;
    expect(both(0, 1)).toEqual(closeTo(second));
  });
});

/** The leaf weight of a row. */
function leafWeight(tree: Tree<Rule>, row: number): number {
  let id = 0;
  for (let node = tree[id]; node.kind === "split"; node = tree[id]) id = goesLeft(0, id, row) ? node.left : node.right;
  const leaf = tree[id];
  return leaf.kind === "leaf" ? leaf.weight : Number.NaN;
}

const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

test("values and bias are the margin: a chain of 70 features", async () => {
  const nodes = chain(70);
  const of = await explained([nodes], 70, 8);
  for (let row = 0; row < 8; row++) expect(total(of(row))).toBeCloseTo(row + leafWeight(nodes, row), 10);
});

test("values and bias are the margin: more rows than a block has", async () => {
  const tree = randomTree(new SeededRandom("shap-blocks"), 4, 4);
  const of = await explained([tree], 4, 8200);
  for (const row of [0, 4095, 4096, 8191, 8192, 8199])
    expect(total(of(row))).toBeCloseTo(row + leafWeight(tree, row), 9);
});

test("without hessians instance counts are used, and without instances both sides are equal", async () => {
  const leaf = (weight: number, count: number) => ({ kind: "leaf", weight, cover: 0, count }) as const;
  const tree = (counts: readonly [number, number]): Tree<Rule> => [
    { kind: "split", left: 1, right: 2, gain: 0, cover: 0, count: 4, rule: { feature: 0 } },
    leaf(1, counts[0]),
    leaf(-1, counts[1]),
  ];
  expect((await explained([tree([3, 1])], 1, 1))(0)).toEqual(closeTo([0.5, 0.5]));
  expect((await explained([tree([0, 0])], 1, 1))(0)).toEqual(closeTo([1, 0]));
});

test("quadrature is exact up to twice its points", () => {
  for (const count of [1, 2, 3, 8, 20, 40]) {
    const { points, weights } = gaussLegendre(count);
    for (const degree of [0, 1, count, 2 * count - 1]) {
      const sum = points.reduce((total, t, q) => total + weights[q] * t ** degree, 0);
      expect(sum).toBeCloseTo(1 / (degree + 1), 13);
    }
  }
});
