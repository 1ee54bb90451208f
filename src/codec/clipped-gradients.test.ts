import { expect, test } from "vitest";
import { sentGradients, slotSum, realSum } from "../base/gradients/quantised-gradients.ts";
import { toNoiseScale } from "../base/noise/noise-scale.ts";
import { codecWith } from "../base/parameters/parameters.ts";
import { SeededRandom } from "../base/random.ts";
import { agreedLayout } from "./agreed-layout.ts";
import { clippedGradients } from "./clipped-gradients.ts";
import { quantiseRound } from "./gradient-layout.ts";

const codec = codecWith({ resolution_bits: 24 });
const terms = { answerNoise: 10, resolutionBits: 24, maxDepth: 3, maxLeaves: 0, outputs: 1 };
const noise = toNoiseScale(terms);
const bits = 2047;

const random = new SeededRandom("clip");
/** Log-normal: some values are far above the root mean square. */
const heavy = Float64Array.from({ length: 4000 }, () => random.normal() * Math.exp(1.5 * random.normal()));
const even = Float64Array.from({ length: 4000 }, () => random.uniform());
const real = { values: [heavy, even], bounds: [null, { min: 0, max: 1 }] };
const rootMeanSquare = Math.sqrt(heavy.reduce((sum, value) => sum + value ** 2, 0) / heavy.length);

test("values beyond three root mean squares are clipped on both sides, others are as they were", () => {
  const clipped = clippedGradients(real, [
    { min: -1024, max: 1024 },
    { min: 0, max: 1 },
  ]);
  const [g, h] = clipped?.values ?? [];
  expect(Math.max(...g)).toBeCloseTo(3 * rootMeanSquare, 9);
  expect(Math.min(...g)).toBeCloseTo(-3 * rootMeanSquare, 9);
  const limit = 3 * rootMeanSquare * (1 - 1e-9);
  expect(g.every((value, i) => Math.abs(heavy[i]) > limit || value === heavy[i])).toBe(true);
  expect(h).toBe(even);
  expect(clipped?.bounds[1]).toEqual({ min: 0, max: 1 });
});

test("nothing is clipped where the range is within it; instances outside the sample do not count", () => {
  const few = Float64Array.from({ length: 1000 }, (_, i) => (i % 100 === 0 ? 1 : 0));
  expect(clippedGradients({ values: [few], bounds: [null] }, [{ min: -2, max: 2 }])).toBeNull();
  expect(clippedGradients({ values: [new Float64Array(5)], bounds: [null] }, [{ min: -1, max: 1 }])).toBeNull();
});

test("an objective's own bounds are kept: of few positives the gradients are large, and carry the signal", () => {
  const rare = Float64Array.from({ length: 1000 }, (_, i) => (i % 200 === 0 ? -0.99 : 0.01));
  const range = { min: -1, max: 1 };
  expect(clippedGradients({ values: [rare], bounds: [range] }, [range])).toBeNull();
  expect(clippedGradients({ values: [rare], bounds: [null] }, [range])).not.toBeNull();
});

test("without noise there is one set of gradients", () => {
  const { gradients } = quantiseRound(codec, bits, real, null, true);
  expect(gradients.sent).toBeUndefined();
  expect(sentGradients(gradients)).toBe(gradients);
});

test("own gradients are not clipped; the largest that is sent is one unit of the noise", () => {
  const { gradients, layout } = quantiseRound(codec, bits, real, noise);
  const sent = sentGradients(gradients);
  expect(sent).not.toBe(gradients);
  expect(Math.max(...sent.columns[0].map(Math.abs))).toBe(noise?.unit);
  const total = (column: Float64Array): number => column.reduce((sum, value) => sum + value, 0);
  const own = realSum(gradients.grids[0], slotSum(Float64Array.of(total(gradients.columns[0])), 0, 0, 1), 0);
  expect(own).toBeCloseTo(total(heavy), 1);
  expect(sent.grids[0].resolution * 2 ** 24).toBeCloseTo(3 * rootMeanSquare, 9);
  expect(layout.slots.map(({ noise: room }) => room?.largest)).toEqual([2 ** 24, 2 ** 24]);
});

test("a passive party expects the same widths whatever is clipped", () => {
  const agreed = agreedLayout({ ...terms, codec: "batched", slotBits: 0, padding: codec.padding }, 4000, bits);
  const others = { values: [even, even], bounds: [null, null] };
  for (const given of [real, others]) {
    const { layout } = quantiseRound(codec, bits, given, noise);
    expect(layout.slots.map(({ r, padding }) => [r, padding])).toEqual(
      agreed.slots.map((slot) => [slot.r, slot.padding]),
    );
    expect([layout.plaintextBits, layout.limbs]).toEqual([agreed.plaintextBits, agreed.limbs]);
  }
});

test("values near the ends of a double's range", () => {
  const [huge, tiny] = [2 ** 390, 2 ** -390].map((scale) => heavy.map((value) => value * scale));
  const { gradients } = quantiseRound(codec, bits, { values: [huge, tiny.map(Math.abs)], bounds: [null, null] }, noise);
  for (const column of sentGradients(gradients).columns)
    expect(Math.max(...column.map(Math.abs))).toBeGreaterThan(2 ** 23);
});
