import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { codecWith } from "../base/parameters/parameters.ts";
import { highLimb, realSum, slotSum } from "../base/gradients/quantised-gradients.ts";
import { decodeSums, encode, quantise } from "./batch-codec.ts";
import { autoSlots, buildLayout, columnCount, type GradientLayout, overflowProof, paperSlots } from "./layout.ts";
import { cannotOverflow, quantisedMax, quantiseValue, type Slot, slotBits } from "./slot.ts";

const defaults = codecWith();

function bigintOf(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).reverse().toString("hex")}`);
}

function bytesOf(value: bigint, sizeBytes: number): Uint8Array {
  const hex = value.toString(16).padStart(sizeBytes * 2, "0");
  return Uint8Array.from(Buffer.from(hex, "hex")).reverse();
}

/** Adds up encoded plaintexts as the encryption would, and decodes the sums. */
function aggregate(layout: GradientLayout, values: readonly Float64Array[]): Float64Array {
  const count = values[0].length;
  const all = Uint32Array.from({ length: count }, (_, i) => i);
  const encoded = encode(layout, quantise(layout, values), all);
  const perInstance = layout.plaintexts.length;
  const sums = new Float64Array(columnCount(layout));
  for (let p = 0; p < perInstance; p++) {
    let total = 0n;
    for (let i = 0; i < count; i++) {
      const start = (i * perInstance + p) * encoded.sizeBytes;
      total += bigintOf(encoded.bytes.subarray(start, start + encoded.sizeBytes));
    }
    const bytes = bytesOf(total, encoded.sizeBytes);
    decodeSums(layout, p, bytes, 0, count, sums, 0);
    expect(total >> BigInt(layout.plaintextBits)).toBe(0n);
  }
  return sums;
}

describe("encode, aggregate, decode", () => {
  const shape = fc.record({
    d: fc.integer({ min: 1, max: 8 }),
    n: fc.integer({ min: 1, max: 40 }),
    padding: fc.integer({ min: 1, max: 5 }),
    codec: fc.constantFrom("batched" as const, "unbatched" as const),
    kind: fc.constantFrom("auto" as const, "paper" as const),
    keyBits: fc.constantFrom(127, 255, 1023),
  });
  test("integer slot sums are decoded exactly, for general d, both codecs and both layouts", () => {
    fc.assert(
      fc.property(
        shape,
        fc.infiniteStream(fc.double({ min: -9, max: 9, noNaN: true })),
        ({ d, n, padding, codec, kind, keyBits }, stream) => {
          const values = Array.from({ length: d }, () =>
            Float64Array.from({ length: n }, () => stream.next().value as number),
          );
          const parameters = { ...defaults, padding, codec };
          const bounds = Array.from({ length: d }, () => ({ min: -9, max: 9 }));
          const slots = kind === "paper" ? paperSlots(parameters, d, n) : autoSlots(parameters, bounds, n);
          const layout = buildLayout(codec, slots, n, keyBits);
          expect(layout.plaintextBits).toBeLessThanOrEqual(keyBits);
          if (codec === "unbatched") expect(layout.plaintexts.length).toBe(d);
          const { columns: quantised, grids } = quantise(layout, values);
          const sums = aggregate(layout, values);
          quantised.forEach((column, slot) => {
            const exact = column.reduce((a, b) => a + b, 0);
            expect(sums[slot]).toBe(exact);
            const real = values[slot].reduce((a, b) => a + b, 0);
            expect(Math.abs(realSum(grids[slot], sums[slot], n) - real)).toBeLessThanOrEqual(
              (n / 2) * grids[slot].resolution + 1e-6,
            );
          });
        },
      ),
      { numRuns: 200 },
    );
  });

  test("sums above 2^53 are decoded exactly, in limbs", () => {
    const n = 3000;
    const bounds = [
      { min: -1, max: 1 },
      { min: 0, max: 0.25 },
    ];
    let largest = 0n;
    fc.assert(
      fc.property(
        fc.infiniteStream(fc.double({ min: 0.5, max: 1, noNaN: true })),
        fc.constantFrom("batched" as const, "unbatched" as const),
        (stream, codec) => {
          const values = bounds.map(({ max }) =>
            Float64Array.from({ length: n }, () => max * (stream.next().value as number)),
          );
          const layout = buildLayout(codec, autoSlots({ ...defaults, codec, resolution_bits: 44 }, bounds, n), n, 255);
          expect(layout.limbs).toBe(2);
          const sums = aggregate(layout, values);
          layout.slots.forEach((slot, index) => {
            const exact = values[index].reduce((sum, value) => sum + BigInt(quantiseValue(slot, value)), 0n);
            expect(BigInt(sums[2 * index]) * BigInt(highLimb) + BigInt(sums[2 * index + 1])).toBe(exact);
            expect(slotSum(sums, 0, index, 2)).toBe(Number(exact));
            if (exact > largest) largest = exact;
          });
        },
      ),
      { numRuns: 10 },
    );
    expect(largest).toBeGreaterThan(2n ** 53n);
  });

  test("batched puts d slots into one plaintext, the first slot highest, eq. (8)", () => {
    const slots: Slot[] = [4, 6].map((r) => ({ shift: 0, alpha: 15, alphaMax: 2 ** r, r, padding: 2 }));
    const layout = buildLayout("batched", slots, 1, 127);
    const encoded = encode(
      layout,
      { instanceCount: 1, grids: [], columns: [Float64Array.of(0b1011), Float64Array.of(0b000101)] },
      Uint32Array.of(0),
    );
    expect(layout.plaintexts).toEqual([[0, 1]]);
    expect(bigintOf(encoded.bytes)).toBe(0b00_1011_00_000101n);
  });
});

describe("auto layout", () => {
  test("no sum reaches the padding, for any number of instances", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 3_000_000 }),
        fc.integer({ min: 1, max: 4 }),
        fc.double({ min: 1e-6, max: 1e6, noNaN: true }),
        (n, padding, bound) => {
          const [slot] = autoSlots({ ...defaults, padding, resolution_bits: 20 }, [{ min: -bound, max: bound }], n);
          expect(n * quantisedMax(slot)).toBeLessThan(2 ** slot.r);
          expect(cannotOverflow(slot, n)).toBe(true);
        },
      ),
    );
  });

  test("its width depends on the number of instances, not on the bound", () => {
    const widths = [0.25, 1, 64, 2 ** 20].map((bound) =>
      slotBits(autoSlots(defaults, [{ min: -bound, max: bound }], 30_000)[0]),
    );
    expect(new Set(widths).size).toBe(1);
  });

  test("a resolution that cannot be summed exactly is rejected with one that can", () => {
    const bounds = [{ min: -1, max: 1 }];
    expect(() => autoSlots({ ...defaults, padding: 16, resolution_bits: 44 }, bounds, 1_000_000)).toThrow(
      /--resolution-bits (\d+) or less/,
    );
    const message = caught(() => autoSlots({ ...defaults, padding: 16, resolution_bits: 44 }, bounds, 1_000_000));
    const proposed = Number(/--resolution-bits (\d+)/.exec(message)?.[1]);
    expect(() => autoSlots({ ...defaults, padding: 16, resolution_bits: proposed }, bounds, 1_000_000)).not.toThrow();
  });

  test("the proof names every slot with its numbers", () => {
    const layout = buildLayout(
      "batched",
      autoSlots(
        defaults,
        [
          { min: -1, max: 1 },
          { min: 0, max: 0.25 },
        ],
        1000,
      ),
      1000,
      2047,
    );
    expect(overflowProof(layout)).toHaveLength(2);
    expect(overflowProof(layout)[0]).toMatch(
      /slot 0 \(g\): at most 1000 values of at most 33554432 sum to 33554432000 < /,
    );
  });
});

describe("paper layout", () => {
  test("its literal parameters carry the paper's own data sets", () => {
    expect(() => paperSlots({ ...defaults, alpha_max: 1e6, r: 30 }, 2, 18_300)).not.toThrow();
    expect(() => paperSlots({ ...defaults, alpha_max: 1e7, r: 40 }, 2, 91_500)).not.toThrow();
  });

  test("too many instances are rejected with parameters that work", () => {
    const message = caught(() => paperSlots({ ...defaults, alpha_max: 1e5, r: 30 }, 2, 91_500));
    const alphaMax = Number(/alpha_max (\S+) or more/.exec(message)?.[1]);
    expect(() => paperSlots({ ...defaults, alpha_max: alphaMax, r: 30 }, 2, 91_500)).not.toThrow();
    const instances = Number(/at most (\d+) instances/.exec(message)?.[1]);
    expect(() => paperSlots({ ...defaults, alpha_max: 1e5, r: 30 }, 2, instances)).not.toThrow();
    expect(() => paperSlots({ ...defaults, alpha_max: 1e5, r: 30 }, 2, instances + 1)).toThrow(/could overflow/);
  });

  test("alpha_max below alpha, and slots wider than two limbs, are rejected", () => {
    expect(() => paperSlots({ ...defaults, alpha_max: 10 }, 2, 5)).toThrow(
      /alpha_max must be at least codec_alpha \(20\); got 10$/,
    );
    expect(() => buildLayout("batched", [{ shift: 0, alpha: 1, alphaMax: 1e9, r: 78, padding: 2 }], 100, 2047)).toThrow(
      /at most 79/,
    );
  });
});

describe("decoding rejects impossible sums", () => {
  const layout = buildLayout("batched", [{ shift: 0, alpha: 4, alphaMax: 16, r: 4, padding: 2 }], 8, 127);
  const decode = (value: number, count: number): Float64Array => {
    const target = new Float64Array(1);
    decodeSums(layout, 0, Uint8Array.of(value), 0, count, target, 0);
    return target;
  };
  test("impossible sums in limbs", () => {
    const wide = buildLayout("batched", [{ shift: 0, alpha: 4, alphaMax: 2 ** 20, r: 60, padding: 2 }], 8, 127);
    const largest = 8n * BigInt(quantisedMax(wide.slots[0]));
    const sums = (value: bigint): Float64Array => {
      const target = new Float64Array(2);
      decodeSums(wide, 0, bytesOf(value, 8), 0, 8, target, 0);
      return target;
    };
    expect(slotSum(sums(largest), 0, 0, 2)).toBe(Number(largest));
    expect(() => sums(largest + 1n)).toThrow(/overflows its slot/);
    expect(() => sums(3n << 60n)).toThrow(/overflows its slot/);
  });
  test("padding bits all ones", () => {
    expect(() => decode(0b11_0000, 8)).toThrow(/overflows its slot/);
  });
  test("a sum beyond what the count allows", () => {
    expect(decode(8, 2)[0]).toBe(8);
    expect(() => decode(9, 2)).toThrow(/overflows its slot/);
  });
});

function caught(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return "nothing was thrown";
}
