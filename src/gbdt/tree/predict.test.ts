import { describe, expect, it } from "vitest";
import type { Model } from "./model.ts";
import { predictMargins, toPredictions } from "./predict.ts";
import { valueGoesLeft } from "../split/split-test.ts";
import { leafOf, type SplitRule } from "./tree.ts";

const rule = (owner: number, threshold: number, defaultLeft: boolean): SplitRule => ({
  owner,
  feature: 0,
  featureName: "x",
  threshold,
  defaultLeft,
});
const model: Model = {
  objective: "binary:logistic",
  baseMargin: 0.5,
  trees: [
    [
      { kind: "split", left: 1, right: 2, gain: 1, cover: 3, count: 3, rule: rule(0, 2, true) },
      { kind: "leaf", weight: -1, cover: 1, count: 1 },
      { kind: "split", left: 3, right: 4, gain: 1, cover: 2, count: 2, rule: rule(1, Math.fround(0.1), false) },
      { kind: "leaf", weight: 1, cover: 1, count: 1 },
      { kind: "leaf", weight: 3, cover: 1, count: 1 },
    ],
    [{ kind: "leaf", weight: 0.25, cover: 3, count: 3 }],
  ],
};

describe("predictMargins", () => {
  it("goes left below the threshold in float32, and the default way for missing values", () => {
    const mine = Float32Array.of(1, 2, NaN, 5, 5);
    const theirs = Float32Array.of(9, 0.05, 9, 0.1, NaN);
    expect([...predictMargins(model, [[mine], [theirs]], 5)]).toEqual([-0.25, 1.75, -0.25, 3.75, 3.75]);
  });

  it("sums trees onto the base margin, and transforms", () => {
    const margins = Float64Array.of(0, 2);
    expect([...toPredictions(model, margins)]).toEqual([0.5, 1 / (1 + Math.exp(-2))]);
  });

  it("refuses columns of different length", () => {
    expect(() => predictMargins(model, [[new Float32Array(2)]], 3)).toThrow("length");
  });
});

describe("leafOf", () => {
  it("passes the node id to the callback", () => {
    const asked: number[] = [];
    const leaf = leafOf(model.trees[0], (_, node) => {
      asked.push(node);
      return false;
    });
    expect([leaf, ...asked]).toEqual([4, 0, 2]);
    expect(valueGoesLeft(rule(0, 2, false), 2)).toBe(false);
  });
});
