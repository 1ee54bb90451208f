import { describe, expect, it } from "vitest";

import { osRandom } from "../../base/random.ts";
import { readInteger } from "../integers.ts";
import { generateKey } from "./key-generation.ts";
import { drawObfuscatorBases, drawOwnerExponents, exponentBytes, uniformBelow, uniformFlat } from "./nonces.ts";

describe("random numbers", () => {
  it("are uniform in [low, high): all values are about equally frequent", async () => {
    const [low, high, count] = [3n, 13n, 20_000];
    const flat = await uniformFlat(osRandom, low, high, 3, count);
    const tally = new Map<bigint, number>();
    for (let i = 0; i < count; i++) {
      const value = readInteger(flat, 3, i);
      tally.set(value, (tally.get(value) ?? 0) + 1);
    }
    expect([...tally.keys()].toSorted((a, b) => Number(a - b))).toEqual([3n, 4n, 5n, 6n, 7n, 8n, 9n, 10n, 11n, 12n]);
    // 2000 expected with deviation 42: ten deviations do not come up by chance.
    for (const times of tally.values()) expect(Math.abs(times - 2000)).toBeLessThan(420);
  });

  it("reach the edges of ranges at byte borders", async () => {
    for (const high of [1n, 2n, 255n, 256n, 257n, 65536n]) {
      for (let i = 0; i < 50; i++) expect(uniformBelow(osRandom, high)).toBeLessThan(high);
    }
    await expect(uniformFlat(osRandom, 5n, 5n, 1, 1)).rejects.toThrow("not empty");
  });

  it("are below the group's order, and bases between 0 and n", async () => {
    const key = await generateKey({ bits: 130, insecure: true });
    const exponents = await drawOwnerExponents(key, 200, "full");
    const bases = await drawObfuscatorBases(key.publicKey, 200);
    const sizeBytes = exponentBytes(key);
    const seen = new Set<bigint>();
    for (let i = 0; i < 200; i++) {
      expect(readInteger(exponents.p, sizeBytes, i)).toBeLessThan(key.p - 1n);
      expect(readInteger(exponents.q, sizeBytes, i)).toBeLessThan(key.q - 1n);
      const base = readInteger(bases, key.publicKey.plaintextBytes, i);
      expect(base > 0n && base < key.publicKey.n).toBe(true);
      seen.add(base);
    }
    expect(seen.size).toBe(200);
  });
});
