import fc from "fast-check";
import { expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { permutationSecretBytes, secretPermutation } from "./secret-permutation.ts";

const secretOf = (byte: number): Uint8Array => new Uint8Array(permutationSecretBytes).fill(byte);

test("the result is a permutation for every length, secret and tree", () => {
  const bytes = fc.uint8Array({ minLength: permutationSecretBytes, maxLength: permutationSecretBytes });
  fc.assert(
    fc.property(bytes, fc.nat(), fc.integer({ min: 0, max: 300 }), (secret, tree, count) => {
      const order = secretPermutation(secret, tree, count);
      expect([...order].sort((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, i) => i));
    }),
  );
  // More than one block of the key stream (1,024 words).
  expect(new Set(secretPermutation(secretOf(1), 0, 5000)).size).toBe(5000);
});

test("the same secret and tree give the same order; a different tree or secret gives a different one", () => {
  const order = secretPermutation(secretOf(1), 3, 40);
  expect(secretPermutation(secretOf(1), 3, 40)).toEqual(order);
  expect(secretPermutation(secretOf(1), 4, 40)).not.toEqual(order);
  expect(secretPermutation(secretOf(2), 3, 40)).not.toEqual(order);
  const oneBit = secretOf(1);
  oneBit[31] ^= 0x80;
  expect(secretPermutation(oneBit, 3, 40)).not.toEqual(order);
});

test("all orders of four candidates are about equally frequent over trees", () => {
  const counts = new Map<string, number>();
  const trees = 4800;
  for (let tree = 0; tree < trees; tree++) {
    const key = secretPermutation(secretOf(9), tree, 4).join("");
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  expect(counts.size).toBe(24);
  const expected = trees / 24;
  const chiSquared = [...counts.values()].reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
  expect(chiSquared).toBeLessThan(49.7); // 23 degrees of freedom, p = 0.001; the test is deterministic
});

test("a secret of a wrong length fails an assertion", () =>
  expectError(() => secretPermutation(new Uint8Array(16), 0, 3), "INTERNAL", /32 bytes/));
