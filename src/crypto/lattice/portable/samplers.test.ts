import { createCipheriv } from "node:crypto";
import { describe, expect, test } from "vitest";
import { expectError } from "../../../../test/support/expect-error.ts";
import { type ByteSource, drawBinomial, drawSmudgingSample, drawTernary, drawUniform } from "./samplers.ts";
import { latticeSets } from "../parameters/sets.ts";
import { domains, KeyStream } from "./streams.ts";

const seed = new Uint8Array(32).fill(7);
const stream = (block = 0): KeyStream => new KeyStream(seed, "smudging", 0, block);

/** A source of given bytes; fails if it is exhausted. */
function bytesOf(...bytes: number[]): ByteSource & { readonly left: () => number } {
  let at = 0;
  return {
    take(count) {
      expect(at + count).toBeLessThanOrEqual(bytes.length);
      return Uint8Array.from(bytes.slice(at, (at += count)));
    },
    left: () => bytes.length - at,
  };
}

/** Mean, variance and kurtosis. */
function momentsOf(values: readonly number[]): { mean: number; variance: number; kurtosis: number } {
  const mean = values.reduce((a, b) => a + b, 0) / values.length;
  const central = (k: number): number => values.reduce((sum, x) => sum + (x - mean) ** k, 0) / values.length;
  return { mean, variance: central(2), kurtosis: central(4) / central(2) ** 2 };
}

describe("streams", () => {
  test("are AES in counter mode over zeros, whatever pieces they are read in", () => {
    const start = Buffer.from([domains.error, 3, 0, 0, 0, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0]);
    const expected = createCipheriv("aes-256-ctr", seed, start).update(Buffer.alloc(100_000));
    const source = new KeyStream(seed, "error", 3, 65_538);
    const pieces = [1, 4095, 1, 7, 0, 70_000, 5000].map((count) => Buffer.from(source.take(count)));
    const all = Buffer.concat(pieces);
    expect(all.equals(expected.subarray(0, all.length))).toBe(true);
  });

  test("of a public key of 16 bytes are AES-128", () => {
    const key = new Uint8Array(16).fill(1);
    const expected = createCipheriv("aes-128-ctr", key, Buffer.from([1, ...Array<number>(15).fill(0)]));
    expect(new KeyStream(key, "row", 0, 0).take(64)).toEqual(expected.update(Buffer.alloc(64)));
  });

  test("reject numbers that do not fit: one that wrapped would repeat a stream", async () => {
    await expectError(() => new KeyStream(seed, "secret", 256, 0), "INTERNAL", /a byte/);
    await expectError(() => new KeyStream(seed, "error", 0, 2 ** 32), "INTERNAL", /four bytes/);
    await expectError(() => new KeyStream(seed.subarray(1), "error", 0, 0), "INTERNAL", /32 bytes/);
    expect(new Set(Object.values(domains)).size).toBe(8);
  });
});

describe("uniform residues", () => {
  test("are the low 50 bits of 8 bytes, drawn again where these are not below p", () => {
    const p = Number(latticeSets.A.primes[0]);
    const tooLarge = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
    const justTooLarge = [1, 0xc0, 0xff, 0xff, 0xff, 0xff, 0x03, 0]; // p itself
    const largest = [0, 0xc0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]; // p - 1, with bits above that do not count
    const source = bytesOf(...tooLarge, ...largest, ...justTooLarge, 5, 0, 0, 0, 0, 0, 4, 0);
    expect([...drawUniform(source, 2, p)]).toEqual([p - 1, 5]);
    expect(source.left()).toBe(0);
  });

  test("fill the range evenly", () => {
    const p = Number(latticeSets.B.primes[2]);
    const { mean, variance } = momentsOf([...drawUniform(stream(), 50_000, p)].map((x) => x / p));
    expect(mean).toBeCloseTo(0.5, 2);
    expect(variance).toBeCloseTo(1 / 12, 2);
  });
});

describe("ternary digits", () => {
  test("are five from a byte, lowest first, and bytes from 243 on are skipped", () => {
    const source = bytesOf(243, 242, 255, 0, 1 + 3 * 2);
    expect([...drawTernary(source, 12)]).toEqual([1, 1, 1, 1, 1, -1, -1, -1, -1, -1, 0, 1]);
    expect(source.left()).toBe(0);
  });

  test("are even", () => {
    const drawn = [...drawTernary(stream(), 90_000)];
    for (const digit of [-1, 0, 1]) expect(drawn.filter((x) => x === digit).length / 30_000).toBeCloseTo(1, 1);
    expect(momentsOf(drawn).variance).toBeCloseTo(2 / 3, 2);
  });
});

describe("binomial errors", () => {
  test("are ones of two bytes minus ones of two, 16 at most", () => {
    const source = bytesOf(0xff, 0xff, 0, 0, 0, 0, 0xff, 0xff, 1, 0, 0, 0x80, 3, 1, 0, 0);
    expect([...drawBinomial(source, 4)]).toEqual([16, -16, 0, 3]);
  });

  test("have mean 0 and variance 8", () => {
    const drawn = [...drawBinomial(stream(), 100_000)];
    const { mean, variance, kurtosis } = momentsOf(drawn);
    expect(Math.abs(mean)).toBeLessThan(0.03);
    expect(Math.abs(variance - 8)).toBeLessThan(0.12);
    expect(kurtosis).toBeCloseTo(3 - 1 / 16, 1);
    expect(Math.max(...drawn.slice(0, 50_000).map(Math.abs))).toBeLessThanOrEqual(16);
  });
});

describe("smudging", () => {
  test.each([2n ** 20n, 2n ** 61n + 12_345n, 2n ** 76n])("of width %i", (width) => {
    const source = stream(1);
    const drawn = Array.from({ length: 8000 }, () => drawSmudgingSample(source, width));
    for (const smudging of drawn)
      if (smudging < -4n * width || smudging > 4n * (width - 1n)) expect(smudging).toBe("within 4W");
    const { mean, variance, kurtosis } = momentsOf(drawn.map((smudging) => Number(smudging) / Number(width)));
    expect(Math.abs(mean)).toBeLessThan(0.04);
    expect(Math.abs(variance - 4 / 3)).toBeLessThan(0.05);
    expect(Math.abs(kurtosis - 2.7)).toBeLessThan(0.1);
  });

  test("reach their ends, and draw again what is not below 2W", () => {
    const number = (value: number): number[] => [value, 0, 0, 0, 0, 0, 0, 0];
    // W = 3: three bits, of which 6 and 7 are drawn again.
    expect(drawSmudgingSample(bytesOf(...[0, 0, 0, 0].flatMap(number)), 3n)).toBe(-12n);
    expect(drawSmudgingSample(bytesOf(...[5, 6, 5, 7, 13, 5].flatMap(number)), 3n)).toBe(8n);
    // From 2W > 2^64 on a uniform has 16 bytes.
    const wide = bytesOf(...Array<number>(64).fill(0));
    expect(drawSmudgingSample(wide, 2n ** 63n + 1n)).toBe(-4n * (2n ** 63n + 1n));
    expect(wide.left()).toBe(0);
  });
});
