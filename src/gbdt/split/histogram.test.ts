import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { QuantisedGradients } from "../../base/gradients/quantised-gradients.ts";
import { binFeature, totalBinCount } from "./binning.ts";
import { candidatesOf, partition } from "./candidate.ts";
import { featureHistogram, leftSums, nodeTotals, rowStride, subtractRows } from "./histogram.ts";

const rowArbitrary = fc.record({
  value: fc.oneof(fc.integer({ min: 0, max: 6 }), fc.constant(NaN)),
  sums: fc.array(fc.integer({ min: 0, max: 2 ** 40 }), { minLength: 4, maxLength: 4 }),
  isInNode: fc.boolean(),
});
const data = fc.tuple(fc.array(rowArbitrary, { minLength: 1, maxLength: 60 }), fc.constantFrom(1, 2, 4));

function setUp([rows, columnCount]: typeof data extends fc.Arbitrary<infer T> ? T : never) {
  const feature = binFeature(
    "x",
    Float32Array.from(rows, (row) => row.value),
    5,
  );
  const columns = Array.from({ length: columnCount }, (_, column) =>
    Float64Array.from(rows, (row) => row.sums[column]),
  );
  const grids = columns.map(() => ({ shift: 0, resolution: 1 }));
  const gradients: QuantisedGradients = { instanceCount: rows.length, grids, columns };
  const all = Uint32Array.from(rows, (_, i) => i);
  return { feature, gradients, all, instances: all.filter((i) => rows[i].isInNode) };
}

describe("histograms", () => {
  it("add up to the node's totals over all bins", () => {
    fc.assert(
      fc.property(data, (drawn) => {
        const { feature, gradients, instances } = setUp(drawn);
        const histogram = featureHistogram(feature, gradients, instances);
        const stride = rowStride(gradients.columns.length);
        expect(histogram.length).toBe(totalBinCount(feature) * stride);
        const sums = new Float64Array(stride);
        histogram.forEach((x, i) => (sums[i % stride] += x));
        expect(sums).toEqual(nodeTotals(gradients, instances));
      }),
    );
  });

  it("subtract to the sibling's", () => {
    fc.assert(
      fc.property(data, (drawn) => {
        const { feature, gradients, all, instances } = setUp(drawn);
        const inNode = new Set(instances);
        const rest = all.filter((i) => !inNode.has(i));
        const [parent, child, sibling] = [all, instances, rest].map((ids) => featureHistogram(feature, gradients, ids));
        expect(subtractRows(parent, child)).toEqual(sibling);
      }),
    );
  });

  it("reject rows of a different shape", () => {
    expect(() => subtractRows(new Float64Array(3), new Float64Array(6))).toThrow("shape");
  });
});

describe("leftSums", () => {
  it("equals the totals of the left side of partition, candidate by candidate", () => {
    fc.assert(
      fc.property(data, (drawn) => {
        const { feature: drawnFeature, gradients, instances } = setUp(drawn);
        const { hasMissing } = drawnFeature;
        const feature =
          hasMissing && instances.length % 2 === 0 ? { ...drawnFeature, missingLeftLast: true } : drawnFeature;
        const sums = leftSums(feature, featureHistogram(feature, gradients, instances));
        const stride = rowStride(gradients.columns.length);
        const candidates = candidatesOf(feature);
        expect(sums.length).toBe(candidates.length * stride);
        candidates.forEach((candidate, c) => {
          const { left } = partition(feature, candidate, instances);
          expect(sums.slice(c * stride, (c + 1) * stride)).toEqual(nodeTotals(gradients, left));
        });
      }),
    );
  });
});
