import fc from "fast-check";
import { expect, test } from "vitest";
import { isSet } from "../../wire/bitmap.ts";
import { bySplitOrder, splitOutcomes, unknownRow } from "./split-outcomes.ts";

const float = fc.float({ noNaN: true, noDefaultInfinity: true });
const value = fc.oneof(float, fc.constant(Number.NaN), fc.constantFrom(-1, 0, 1));

test("every bit compares a value with its split's threshold, and unknown ids are treated as requested", async () => {
  const splits = fc.array(
    fc.record({
      threshold: fc.oneof(float, fc.constantFrom(-1, 0, 1)),
      defaultLeft: fc.boolean(),
      values: fc.array(value, { minLength: 5, maxLength: 5 }),
    }),
    { maxLength: 9 },
  );
  const rows = fc.array(fc.integer({ min: unknownRow, max: 4 }), { maxLength: 11 });
  await fc.assert(
    fc.asyncProperty(splits, rows, fc.boolean(), async (given, asked, unknownAsMissing) => {
      const columns = given.map(({ threshold, defaultLeft, values }, node) => ({
        split: { tree: 0, node, feature: node, featureName: `f${node}`, threshold, defaultLeft },
        values: Float32Array.from(values),
      }));
      const { known, left } = await splitOutcomes(columns, Int32Array.from(asked), unknownAsMissing);
      expect(left.length).toBe(Math.ceil((given.length * asked.length) / 8));
      asked.forEach((row, i) => {
        expect(isSet(known, i)).toBe(row !== unknownRow);
        given.forEach(({ threshold, defaultLeft, values }, s) => {
          const x = row === unknownRow ? Number.NaN : Math.fround(values[row]);
          const expected =
            row === unknownRow && !unknownAsMissing ? false : Number.isNaN(x) ? defaultLeft : x < threshold;
          expect(isSet(left, s * asked.length + i)).toBe(expected);
        });
      });
    }),
  );
});

test("a large request yields to the event loop", async () => {
  const values = new Float32Array(20_000);
  const columns = Array.from({ length: 400 }, (_, node) => ({
    split: { tree: 0, node, feature: 0, featureName: "f", threshold: 1, defaultLeft: true },
    values,
  }));
  let turns = 0;
  const ticking = setInterval(() => turns++, 0);
  await splitOutcomes(columns, Int32Array.from(values.keys()), false);
  clearInterval(ticking);
  expect(turns).toBeGreaterThan(0);
});

test("split order is by tree, then node", () => {
  const order = [
    { tree: 1, node: 0 },
    { tree: 0, node: 10 },
    { tree: 0, node: 9 },
  ].sort(bySplitOrder);
  expect(order).toEqual([
    { tree: 0, node: 9 },
    { tree: 0, node: 10 },
    { tree: 1, node: 0 },
  ]);
});
