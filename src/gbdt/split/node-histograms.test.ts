import { describe, expect, test } from "vitest";
import type { QuantisedGradients } from "../../base/gradients/quantised-gradients.ts";
import { SeededRandom } from "../../base/random.ts";
import { binFeature } from "./binning.ts";
import { featureHistogram } from "./histogram.ts";
import { NodeHistograms, featureParts } from "./node-histograms.ts";
import { plainAddon } from "../../base/plain-addon.ts";

const rowCount = 5000;
const random = new SeededRandom("node histograms");
const features = [4, 32, 300, 1].map((distinct, i) =>
  binFeature(
    `x${i}`,
    Float32Array.from({ length: rowCount }, () => (i > 0 && random.below(9) === 0 ? NaN : random.below(distinct))),
    64,
  ),
);
const drawn = Uint32Array.from(features.keys());
const rows = Uint32Array.from({ length: rowCount }, (_, i) => i);

/** Integers of either sign, small enough that their sums are exact. */
function gradientsOf(columnCount: number): QuantisedGradients {
  const largest = Math.floor(Number.MAX_SAFE_INTEGER / rowCount);
  const column = (): Float64Array => Float64Array.from(rows, () => (random.below(2 ** 31) - 2 ** 30) * 800);
  const columns = Array.from({ length: columnCount }, column);
  columns[0].fill(largest, 0, 3);
  const grids = columns.map(() => ({ shift: 0, resolution: 1 }));
  return { instanceCount: rowCount, grids, columns };
}

const addon = plainAddon();
const addons = [null, ...(addon === null ? [] : [addon])];

describe.each(addons)("sums of nodes, %o", (given) => {
  test.each([1, 2, 4, 6])("%i columns: a parent and its children, summed or derived", async (columnCount) => {
    const gradients = gradientsOf(columnCount);
    const histograms = new NodeHistograms(features, gradients, given);
    const expectOf = (node: { readonly sampled: Uint32Array }, found: Awaited<ReturnType<typeof histograms.root>>) => {
      for (const [index, part] of featureParts(found, features, columnCount))
        expect(part).toEqual(featureHistogram(features[index], gradients, node.sampled));
    };
    const root = { id: 0, sampled: rows };
    expectOf(root, await histograms.root(root, drawn));
    const left = { id: 1, sampled: rows.filter((row) => row % 3 === 0 || row > 4000) };
    const right = { id: 2, sampled: rows.filter((row) => row % 3 !== 0 && row <= 4000) };
    const [ofLeft, ofRight] = await histograms.children(root, [left, right], [drawn, drawn]);
    expectOf(left, ofLeft);
    expectOf(right, ofRight);
    // Other columns than the parent's: nothing can be derived.
    const few = [Uint32Array.of(1, 3), Uint32Array.of(0)] as const;
    const below = [3, 4].map((id) => ({ id, sampled: right.sampled.filter((row) => row % 2 === id % 2) }));
    const [first, second] = await histograms.children(right, [below[0], below[1]], few);
    expect([first.features, second.features]).toEqual(few);
    expectOf(below[0], first);
    expectOf(below[1], second);
  });
});

test.skipIf(addon === null)("the addon rejects rows and bins out of range, and results of a wrong size", async () => {
  const call = (selected: Uint32Array, binCount: number, result = new Float64Array(3 * binCount)) =>
    addon?.plainHistogram(
      [new Float64Array(4), new Float64Array(4)],
      selected,
      [Uint16Array.of(0, 1, 2, 3)],
      Uint32Array.of(binCount),
      result,
      2,
    );
  expect(await call(Uint32Array.of(0, 3), 4)).toBe(-1);
  expect(await call(Uint32Array.of(0, 4), 4)).toBe(1);
  expect(await call(Uint32Array.of(0, 1, 3), 3)).toBe(2);
  expect(() => call(Uint32Array.of(0), 4, new Float64Array(11))).toThrow(/size/);
});
