import { expect, it } from "vitest";
import { importanceBy } from "./importance.ts";
import type { Tree } from "./tree.ts";

const leaf = { kind: "leaf", weight: 1, cover: 1, count: 1 } as const;
const split = (owner: number, gain: number, cover: number) =>
  ({ kind: "split", left: 1, right: 2, gain, cover, count: 2, rule: { owner } }) as const;
const trees: Tree<{ owner: number }>[] = [
  [split(0, 2, 10), leaf, leaf],
  [split(1, 5, 4), split(0, 1, 6), leaf, leaf, leaf],
];

it("sums weight, gain and cover per key, the largest gain first", () => {
  expect([...importanceBy(trees, ({ owner }) => owner)]).toEqual([
    [1, { weight: 1, totalGain: 5, totalCover: 4 }],
    [0, { weight: 2, totalGain: 3, totalCover: 16 }],
  ]);
  expect([...importanceBy(trees, ({ owner }) => (owner === 0 ? null : "others"))]).toEqual([
    ["others", { weight: 1, totalGain: 5, totalCover: 4 }],
  ]);
});
