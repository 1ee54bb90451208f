import { describe, expect, it } from "vitest";
import { ColumnSampler } from "./column-sampling.ts";

const sampler = (byTree: number, byLevel: number, byNode: number, secret = "s"): ColumnSampler =>
  new ColumnSampler({ byTree, byLevel, byNode }, 7, secret);
const at = (tree: number, depth: number, node: number) => ({ tree, depth, node });

describe("ColumnSampler", () => {
  it("takes all columns by default", () => {
    expect([...sampler(1, 1, 1).at(at(0, 0, 0), 4)]).toEqual([0, 1, 2, 3]);
    expect(sampler(1, 1, 1).takesAll).toBe(true);
    expect(sampler(0.5, 1, 1).isFixedPerTree).toBe(true);
    expect(sampler(1, 1, 0.9).isFixedPerTree).toBe(false);
  });

  it("draws as many as XGBoost does, at least one, ascending", () => {
    for (const [rate, count, wanted] of [
      [0.5, 7, 3],
      [0.1, 5, 1],
      [0.99, 3, 2],
      [0.5, 0, 0],
    ]) {
      const drawn = [...sampler(rate, 1, 1).at(at(0, 0, 0), count)];
      expect(drawn).toHaveLength(wanted);
      expect(drawn).toEqual([...new Set(drawn)].sort((a, b) => a - b));
    }
  });

  it("nests: a node's columns are among its level's, those among its tree's", () => {
    const tree = new Set(sampler(0.5, 1, 1).at(at(3, 1, 2), 40));
    const level = [...sampler(0.5, 0.5, 1).at(at(3, 1, 2), 40)];
    const node = [...sampler(0.5, 0.5, 0.5).at(at(3, 1, 2), 40)];
    expect([tree.size, level.length, node.length]).toEqual([20, 10, 5]);
    expect(level.every((column) => tree.has(column))).toBe(true);
    expect(node.every((column) => level.includes(column))).toBe(true);
  });

  it("depends on tree, level, node and secret", () => {
    const all = sampler(0.5, 0.5, 0.5);
    const text = (tree: number, depth: number, node: number, which = all): string =>
      which.at(at(tree, depth, node), 200).join();
    expect(text(0, 1, 1)).toBe(text(0, 1, 1));
    expect(
      new Set([text(0, 1, 1), text(1, 1, 1), text(0, 2, 1), text(0, 1, 2), text(0, 1, 1, sampler(0.5, 0.5, 0.5, "t"))])
        .size,
    ).toBe(5);
    expect(sampler(0.5, 0.5, 1).at(at(0, 1, 1), 50)).toEqual(sampler(0.5, 0.5, 1).at(at(0, 1, 2), 50));
  });
});
