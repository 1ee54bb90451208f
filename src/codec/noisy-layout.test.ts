/** Signed slots with room for noise: encoding, addition and decoding, up to the limits. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { codecWith } from "../base/parameters/parameters.ts";
import { toNoiseScale } from "../base/noise/noise-scale.ts";
import { realSum, slotSum } from "../base/gradients/quantised-gradients.ts";
import { agreedLayout, type LayoutTerms } from "./agreed-layout.ts";
import { decodeSums, encode, encodeNoise, quantise } from "./batch-codec.ts";
import { gradientLayout, quantiserFor } from "./gradient-layout.ts";
import { type GradientLayout, columnCount, overflowProof } from "./layout.ts";
import { cannotOverflow, largestField, noiseOffset, type Slot, slotBits } from "./slot.ts";

const bounds = [
  { min: -1, max: 1 },
  { min: 0, max: 0.25 },
];
const keyBits = 2047;

function termsOf(changes: Partial<LayoutTerms> = {}): LayoutTerms {
  const plain = { codec: "batched", resolutionBits: 24, slotBits: 0, padding: 2, outputs: 1 };
  return { ...plain, answerNoise: 10, maxDepth: 3, maxLeaves: 0, ...changes };
}

function layoutOf(terms: LayoutTerms, g: number[], h: number[]): GradientLayout {
  const { padding, resolutionBits: resolution_bits } = terms;
  const codec = terms.codec === "unbatched" ? "unbatched" : "batched";
  const parameters = codecWith({ codec, padding, resolution_bits });
  const values = [Float64Array.from(g), Float64Array.from(h)];
  return gradientLayout(parameters, keyBits, { values, bounds }, toNoiseScale(terms));
}

const toBig = (bytes: Uint8Array): bigint => BigInt(`0x${Buffer.from(bytes).reverse().toString("hex")}`);
function fromBig(value: bigint, sizeBytes: number): Uint8Array {
  return Uint8Array.from(Buffer.from(value.toString(16).padStart(2 * sizeBytes, "0"), "hex")).reverse();
}

/** Adds plaintexts as Paillier would, then the noise, and decodes. */
function decoded(layout: GradientLayout, g: number[], h: number[], summed: number[], noise: number[]): Float64Array {
  const gradients = quantise(layout, [Float64Array.from(g), Float64Array.from(h)]);
  const vector = encode(layout, gradients, Uint32Array.from(summed));
  const perInstance = layout.plaintexts.length;
  const row = new Float64Array(columnCount(layout));
  for (let p = 0; p < perInstance; p++) {
    const sizeBytes = vector.sizeBytes + 8;
    const constant = new Uint8Array(sizeBytes);
    encodeNoise(layout, p, constant, 0, summed.length, Float64Array.from(noise));
    let sum = toBig(constant);
    for (let i = 0; i < summed.length; i++) {
      const at = (i * perInstance + p) * vector.sizeBytes;
      sum += toBig(vector.bytes.subarray(at, at + vector.sizeBytes));
    }
    decodeSums(layout, p, fromBig(sum, sizeBytes), 0, Math.max(1, summed.length), row, 0);
  }
  return row;
}

describe.each([24, 44])("resolution of %d bits", (resolutionBits) => {
  test.each(["batched", "unbatched"])("%s: sums and noise are decoded exactly and with their signs", (codec) => {
    const value = fc.double({ min: -1, max: 1, noNaN: true });
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 30 }), fc.integer(), fc.integer(), (g, eG, eH) => {
        const h = g.map((x) => (1 - x * x) / 4);
        const layout = layoutOf(termsOf({ codec, resolutionBits, padding: 12 }), g, h);
        const summed = g.map((_, i) => i).filter((i) => i % 3 !== 1);
        const row = decoded(layout, g, h, summed, [eG, eH]);
        const { columns } = quantise(layout, [Float64Array.from(g), Float64Array.from(h)]);
        const q = (slot: number, i: number): number =>
          slotSum(
            Float64Array.from(columns, (column) => column[i]),
            0,
            slot,
            layout.limbs,
          );
        [eG, eH].forEach((e, slot) =>
          expect(slotSum(row, 0, slot, layout.limbs)).toBe(summed.reduce((sum, i) => sum + q(slot, i), e)),
        );
      }),
    );
  });
});

test("signed integers convert to real numbers without counts", () => {
  const parameters = codecWith();
  const g = Float64Array.of(-1, -0.3, 0, 0.3, 1);
  const { grids, columns, noise } = quantiserFor(
    parameters,
    keyBits,
    toNoiseScale(termsOf()),
  )({ values: [g, g.map((x) => (1 - x * x) / 4)], bounds });
  expect(grids.map(({ shift }) => shift)).toEqual([0, 0]);
  expect(columns[0][0]).toBe(-(2 ** 24));
  expect(columns[0].every((q, i) => Math.abs(realSum(grids[0], q, 77) - g[i]) <= 2 ** -25)).toBe(true);
  expect(columns[1].every((q) => q >= 0)).toBe(true);
  expect(noise?.unit).toBe(2 ** 24);
});

test("without noise nothing is signed", () => {
  const layout = layoutOf(termsOf({ answerNoise: 0 }), [-1, 1], [0, 0.25]);
  expect(layout.slots.every(({ noise }) => noise === undefined)).toBe(true);
  expect(layout.noise).toBeNull();
});

describe("no overflow", () => {
  test.each([1, 2, 90, 1000, 22_500, 65_535, 65_536])("%d instances: one bit less is too little", (count) => {
    for (const answerNoise of [1e-6, 1, 1000]) {
      const { slots } = agreedLayout(termsOf({ answerNoise }), count, keyBits);
      for (const slot of slots) {
        expect(cannotOverflow(slot, count)).toBe(true);
        expect(largestField(slot, count)).toBeLessThan(2n ** BigInt(slot.r));
        expect(largestField(slot, count)).toBeGreaterThanOrEqual(2n ** BigInt(slot.r - 1));
        // More instances than the offset was computed for: a field could be negative.
        expect(cannotOverflow(slot, count + 1)).toBe(false);
      }
    }
  });

  test("the largest and the smallest possible field are decoded", () => {
    const count = 7;
    const [ones, zeros] = [new Array<number>(count).fill(1), new Array<number>(count).fill(0)];
    const allInstances = ones.map((_, i) => i);
    const layout = layoutOf(termsOf(), ones, zeros);
    const max = layout.noise?.max ?? 0;
    const unit = 2 ** 24;
    const most = decoded(
      layout,
      ones,
      ones.map(() => 0.25),
      allInstances,
      [max, max],
    );
    expect([...most]).toEqual([count * unit + max, count * unit + max]);
    const least = decoded(
      layout,
      ones.map(() => -1),
      zeros,
      allInstances,
      [-max, -max],
    );
    expect([...least]).toEqual([-count * unit - max, -max]);
    expect([...decoded(layout, ones, zeros, [], [0, 0])]).toEqual([0, 0]);
    expect(overflowProof(layout)[0]).toMatch(/^slot 0 \(g\): .* with noise of at most \d+ and the offset \d+ sum to/);
  });

  test("a field beyond what the count allows is rejected, and for no instances every non-zero field", () => {
    const layout = layoutOf(termsOf(), [1, 1, 1, 1], [0, 0, 0, 0]);
    const field = (value: bigint, count: number) => (): void =>
      decodeSums(layout, 0, fromBig(value, 32), 0, count, new Float64Array(2), 0);
    const [g, h] = layout.slots;
    const zero = ({ noise }: Slot): bigint => (noise === undefined ? 0n : noiseOffset(noise));
    const at = (sumG: bigint, sumH: bigint): bigint => ((zero(g) + sumG) << BigInt(slotBits(h))) + zero(h) + sumH;
    const max = BigInt(layout.noise?.max ?? 0);
    const unit = 2n ** 24n;
    expect(field(at(2n * unit + max, 0n), 2)).not.toThrow();
    expect(field(at(2n * unit + max + 1n, 0n), 2)).toThrow(/overflows its slot/);
    expect(field(at(-2n * unit - max, 0n), 2)).not.toThrow();
    expect(field(at(-2n * unit - max - 1n, 0n), 2)).toThrow(/overflows its slot/);
    expect(field(at(0n, -max), 2)).not.toThrow();
    expect(field(at(0n, -max - 1n), 2)).toThrow(/overflows its slot/);
    expect(field(at(0n, 0n), 0)).not.toThrow();
    expect(field(at(1n, 0n), 0)).toThrow(/overflows its slot/);
  });
});

test("the passive party derives the layout that the active party uses, for any gradients", () => {
  for (const changes of [
    {},
    { codec: "unbatched" },
    { padding: 5 },
    { maxDepth: 0, maxLeaves: 40 },
    { resolutionBits: 30 },
  ]) {
    const terms = termsOf(changes);
    const own = layoutOf(terms, [0.1, -0.2, 0.3], [0.1, 0.2, 0.05]);
    const derived = agreedLayout(terms, 3, keyBits);
    expect(derived.plaintexts).toEqual(own.plaintexts);
    expect(derived.slots.map(({ r, noise }) => ({ r, noise }))).toEqual(
      own.slots.map(({ r, noise }) => ({ r, noise })),
    );
    const exact = agreedLayout({ ...terms, answerNoise: 0 }, 3, keyBits);
    expect(layoutOf({ ...terms, answerNoise: 0 }, [1, 0, 0], [0, 0, 0]).plaintextBits).toBe(exact.plaintextBits);
  }
});

test("without noise it is fixed to the bit too, for any bounds of the objective and weights", () => {
  const range = fc.double({ min: 2 ** -20, max: 2 ** 20, noNaN: true });
  fc.assert(
    fc.property(
      range,
      range,
      fc.integer({ min: 1, max: 3 }),
      fc.integer({ min: 1, max: 40 }),
      (g, h, outputs, count) => {
        const terms = termsOf({ answerNoise: 0, outputs });
        const values = Array.from({ length: 2 * outputs }, () => new Float64Array(count));
        const each = Array.from({ length: 2 * outputs }, (_, slot) =>
          slot % 2 === 0 ? { min: -g, max: g } : { min: 0, max: h },
        );
        const parameters = codecWith({ padding: terms.padding });
        for (const bits of [100, keyBits]) {
          const own = gradientLayout(parameters, bits, { values, bounds: each });
          const { plaintexts, plaintextBits } = agreedLayout(terms, count, bits);
          expect({ plaintexts: own.plaintexts, plaintextBits: own.plaintextBits }).toEqual({
            plaintexts,
            plaintextBits,
          });
        }
      },
    ),
  );
});
