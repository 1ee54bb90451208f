import { expect, test } from "vitest";
import { binFeature } from "../../gbdt/split/binning.ts";
import { binCategories } from "../../gbdt/split/category-binning.ts";
import { entryIndices, entryCount, isOrder, tieOrder } from "./candidate-order.ts";
import { TreeCandidates } from "./candidate-set.ts";

const rows = 12;
const numbers = Float32Array.from({ length: rows }, (_, i) => i % 4);
const codes = Float32Array.from({ length: rows }, (_, i) => i % 3);
const set = new TreeCandidates(
  {
    features: [
      binFeature("a", numbers, 4),
      binCategories("b", codes, ["x", "y", "z"], 1),
      binFeature("c", numbers.toReversed(), 4),
    ],
    permutationSecret: new Uint8Array(32).fill(5),
    skippedBins: new Int32Array(3).fill(-1),
    sampler: null,
  },
  0,
  0,
).at({ node: 0, depth: 0 });

test("entries are the groups, then the candidates not suppressed; ranks follow the table", () => {
  const suppressed = new Uint8Array(set.byPosition.length);
  suppressed[set.byPosition.indexOf(0)] = 1; // the first threshold of the first column
  const shown = { groups: set.groups, suppressed };
  const order = tieOrder(set, suppressed);
  expect(order).toHaveLength(entryCount(shown));
  expect(order).toHaveLength(1 + 3 + 3 - 1);
  expect(isOrder(order)).toBe(true);
  const positions = Array.from(set.byPosition.keys()).filter((at) => at >= 3 && suppressed[at] === 0);
  const entries = entryIndices(
    [
      { kind: "set", set: { group: 0, categories: [1], missingLeft: true } },
      ...positions.map((position) => ({ kind: "candidate" as const, position })),
    ],
    shown,
  );
  expect(entries).toEqual(Array.from(order.keys()));
  const byTable = positions.toSorted((a, b) => set.byPosition[a] - set.byPosition[b]);
  // Two thresholds of the first column, the group, three of the last.
  expect(order[0]).toBe(2);
  expect(byTable.map((position) => order[entries[1 + positions.indexOf(position)]])).toEqual([0, 1, 3, 4, 5]);
});

test("missing, duplicate or too large ranks are not an order", () => {
  expect([[0, 1], [1, 0], []].map((ranks) => isOrder(Uint32Array.from(ranks)))).toEqual([true, true, true]);
  expect([[0, 0], [1, 2], [0xffffffff]].map((ranks) => isOrder(Uint32Array.from(ranks)))).toEqual([
    false,
    false,
    false,
  ]);
});
