import { checkPrimeSync } from "node:crypto";

import { describe, expect, it } from "vitest";

import { bitLength, gcd, power } from "../integers.ts";
import { generateKey, isGenerator, primeFactors } from "./key-generation.ts";

describe("generated keys", () => {
  it.each([128, 130, 256, 512, 1000, 2048])("of %i bits have the promised structure", async (bits) => {
    const key = await generateKey({ bits, insecure: true });
    const { p, q } = key.secretPrimes();
    expect(bitLength(key.publicKey.n)).toBe(bits);
    expect(p.prime).not.toBe(q.prime);
    expect(gcd(key.publicKey.n, (p.prime - 1n) * (q.prime - 1n))).toBe(1n);
    for (const { prime, subprime, cofactor, generator } of [p, q]) {
      expect(prime >> BigInt(bits / 2 - 2)).toBe(3n);
      expect(prime).toBe(2n * cofactor * subprime + 1n);
      expect(checkPrimeSync(prime) && checkPrimeSync(subprime)).toBe(true);
      expect(bitLength(subprime)).toBe(bits / 2 - 16);
      const order = prime - 1n;
      for (const divisor of [2n, subprime, ...primeFactors(cofactor)]) {
        expect(power(generator, order / divisor, prime)).not.toBe(1n);
      }
    }
  });

  it("differ from one another", async () => {
    const keys = await Promise.all(Array.from({ length: 4 }, () => generateKey({ bits: 128, insecure: true })));
    expect(new Set(keys.flatMap((key) => [key.p, key.q])).size).toBe(8);
  });

  it("are refused below 2048 bits without the word insecure", async () => {
    const refusal = { code: "KEY_TOO_SHORT", message: expect.stringContaining("insecure") };
    await expect(generateKey({ bits: 1024 })).rejects.toMatchObject(refusal);
    await expect(generateKey({ bits: 2046, insecure: false })).rejects.toMatchObject(refusal);
  });

  it.each([0, 126, 129, 4098, 2048.5, NaN])("are refused with %d bits", async (bits) => {
    await expect(generateKey({ bits, insecure: true })).rejects.toMatchObject({ code: "USAGE" });
  });
});

describe("isGenerator", () => {
  // 23 = 2 * 1 * 11 + 1: the squares and -1 generate less than everything.
  const secret = { prime: 23n, subprime: 11n, cofactor: 1n };
  it("finds exactly the generators of a small group", () => {
    const found = Array.from({ length: 30 }, (_, g) => BigInt(g)).filter((generator) =>
      isGenerator({ ...secret, generator }),
    );
    expect(found).toEqual([5n, 7n, 10n, 11n, 14n, 15n, 17n, 19n, 20n, 21n]);
  });
});
