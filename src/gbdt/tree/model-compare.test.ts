import { describe, expect, it } from "vitest";
import { firstDifference } from "./model-compare.ts";
import type { Model } from "./model.ts";
import type { LeafNode, SplitNode, SplitRule } from "./tree.ts";

const rule: SplitRule = { owner: 1, feature: 0, featureName: "x", threshold: 2, defaultLeft: true };
const split: SplitNode<SplitRule> = { kind: "split", left: 1, right: 2, gain: 1, cover: 3, count: 3, rule };
const leaf: LeafNode = { kind: "leaf", weight: 0.25, cover: 1, count: 1 };
const model: Model = { objective: "binary:logistic", baseMargin: 0, trees: [[leaf], [split, leaf, leaf]] };
const withRoot = (root: SplitNode<SplitRule> | LeafNode): Model => ({ ...model, trees: [[leaf], [root, leaf, leaf]] });
const withRule = (change: Partial<SplitRule>): Model =>
  withRoot({ ...split, rule: { ...rule, ...change } as SplitRule });
const withLeaf = (change: Partial<LeafNode>): Model => ({
  ...model,
  trees: [[leaf], [split, leaf, { ...leaf, ...change }]],
});

describe("firstDifference", () => {
  it("finds none between equal models", () => {
    expect(firstDifference(model, structuredClone(model))).toBeNull();
  });

  const root = "tree 1, node 0: ";
  it.each<[string, Model, string]>([
    ["objective", { ...model, objective: "reg:squarederror" }, "objective binary:logistic versus reg:squarederror"],
    ["base margin's sign", { ...model, baseMargin: -0 }, "base margin 0 versus -0"],
    ["tree count", { ...model, trees: [[leaf]] }, "number of trees 2 versus 1"],
    [
      "node count",
      {
        ...model,
        trees: [
          [leaf, leaf],
          [split, leaf, leaf],
        ],
      },
      "tree 0, number of nodes 1 versus 2",
    ],
    ["kind", withRoot({ ...leaf }), `${root}kind split versus leaf`],
    ["owner", withRule({ owner: 2 }), `${root}owner 1 versus 2`],
    ["feature", withRule({ feature: 3 }), `${root}feature 0 versus 3`],
    ["feature name", withRule({ featureName: "y" }), `${root}feature name x versus y`],
    ["threshold", withRule({ threshold: 2.5 }), `${root}threshold 2 versus 2.5`],
    ["categories", withRule({ categories: ["a", "b"] }), `${root}categories undefined versus ["a","b"]`],
    ["direction", withRule({ defaultLeft: false }), `${root}default direction left true versus false`],
    ["gain", withRoot({ ...split, gain: 1 + Number.EPSILON }), `${root}gain 1 versus 1.0000000000000002`],
    ["left child", withRoot({ ...split, left: 2 }), `${root}left child 1 versus 2`],
    ["right child", withRoot({ ...split, right: 1 }), `${root}right child 2 versus 1`],
    ["weight", withLeaf({ weight: 0.5 }), "tree 1, node 2: leaf weight 0.25 versus 0.5"],
    ["cover", withLeaf({ cover: 2 }), "tree 1, node 2: cover 1 versus 2"],
    ["count", withLeaf({ count: 2 }), "tree 1, node 2: count 1 versus 2"],
  ])("names the position: %s", (_, other, place) => {
    expect(firstDifference(model, other)).toBe(place);
  });
});
