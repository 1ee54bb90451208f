import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { derivedRandom, osRandom, SeededRandom } from "./random.ts";

/** Pearson's statistic against equal fractions. */
function chiSquared(counts: readonly number[], drawn: number): number {
  const expected = drawn / counts.length;
  return counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
}

describe("SeededRandom", () => {
  const draws = (seed: number | string): number[] => {
    const random = new SeededRandom(seed);
    return [
      ...Array.from({ length: 20 }, () => random.uint32()),
      random.uniform(),
      random.normal(),
      random.below(1000),
      ...random.permutation(9),
    ];
  };

  test("the same seed gives the same numbers, another seed different ones", () => {
    expect(draws(7)).toEqual(draws(7));
    expect(draws("a")).toEqual(draws("a"));
    expect(draws(7)).not.toEqual(draws(8));
    expect(draws("a")).not.toEqual(draws("b"));
  });

  test("the sequence of seed 7 never changes: stored results depend on it", () => {
    const random = new SeededRandom(7);
    expect(Array.from({ length: 4 }, () => random.uint32())).toEqual([3853815415, 332954768, 4106968, 471937764]);
  });

  test("below and uniform stay in range and are uniform", () => {
    const random = new SeededRandom("uniform");
    const counts = new Array<number>(10).fill(0);
    for (let i = 0; i < 20_000; i++) counts[random.below(10)]++;
    expect(counts.length).toBe(10);
    expect(chiSquared(counts, 20_000)).toBeLessThan(27.9); // 9 degrees of freedom, p = 0.001; the seed is fixed
    for (let i = 0; i < 1000; i++) {
      const x = random.uniform();
      expect(x >= 0 && x < 1).toBe(true);
    }
    expect(random.below(1)).toBe(0);
  });

  test("normal has mean 0 and variance 1", () => {
    const random = new SeededRandom("normal");
    const values = Array.from({ length: 20_000 }, () => random.normal());
    const mean = values.reduce((a, b) => a + b, 0) / values.length;
    const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
    expect(Math.abs(mean)).toBeLessThan(0.03);
    expect(Math.abs(variance - 1)).toBeLessThan(0.05);
    expect(values.every(Number.isFinite)).toBe(true);
  });

  test("permutation is one, for every length", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 200 }), fc.string(), (count, seed) => {
        const order = new SeededRandom(seed).permutation(count);
        expect([...order].sort((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, i) => i));
      }),
    );
  });

  test("all permutations of three are equally likely", () => {
    const random = new SeededRandom("three");
    const counts = new Map<string, number>();
    for (let i = 0; i < 6000; i++) {
      const key = random.permutation(3).join("");
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    expect(counts.size).toBe(6);
    expect(chiSquared([...counts.values()], 6000)).toBeLessThan(20.5); // 5 degrees of freedom, p = 0.001
  });
});

test("osRandom fills the array that it is given, differently each time", () => {
  const target = new Uint8Array(32);
  expect(osRandom.fill(target)).toBe(target);
  expect(target.some((byte) => byte !== 0)).toBe(true);
  expect(osRandom.fill(new Uint8Array(32))).not.toEqual(target);
});

test("derived draws can be reproduced with the secret and the index only", () => {
  const secret = osRandom.fill(new Uint8Array(32));
  /** Short and long pieces, in a fixed order. */
  const drawn = (from: Uint8Array, draw: number): string => {
    const random = derivedRandom(from, draw);
    const pieces = [16, 5000, 128, 1024, 1025, 4000, 3].map((length) => random.fill(new Uint8Array(length).fill(7)));
    return Buffer.concat(pieces).toString("hex");
  };
  const first = drawn(secret, 0);
  expect(drawn(secret, 0)).toBe(first);
  const others = [drawn(secret, 1), drawn(osRandom.fill(new Uint8Array(32)), 0)];
  expect(new Set([first, ...others]).size).toBe(3);
  // All pieces differ: no output is repeated.
  const random = derivedRandom(secret, 2);
  const nonces = Array.from({ length: 600 }, () => Buffer.from(random.fill(new Uint8Array(32))).toString("hex"));
  expect(new Set(nonces).size).toBe(600);
});
