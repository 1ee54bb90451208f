import { describe, expect, test } from "vitest";
import { SeededRandom } from "../../../base/random.ts";
import { modulo, power as powerOf } from "../../integers.ts";
import { invert, multiply, power, primeOf, residueOfInteger } from "./residues.ts";
import { latticeSets } from "../parameters/sets.ts";
import { reverseBits, Transform } from "./transform.ts";

const { A, B } = latticeSets;
const random = new SeededRandom("transform");
const residue = (p: bigint): number => Number((BigInt(random.uint32()) * 2n ** 32n + BigInt(random.uint32())) % p);

describe("residues", () => {
  test.each(B.primes)("products modulo %i are those of integers", (p) => {
    const prime = primeOf(p);
    const edges = [
      0n,
      1n,
      2n,
      2n ** 25n - 1n,
      2n ** 25n,
      2n ** 49n,
      p / 2n,
      p / 2n + 1n,
      p - 2n ** 25n,
      p - 2n,
      p - 1n,
    ];
    const drawn = Array.from({ length: 300 }, () => residue(p));
    const values = [...edges.map(Number), ...drawn];
    for (const a of values)
      for (const b of [...edges.map(Number), ...drawn.slice(0, 20)])
        if (BigInt(multiply(a, b, prime)) !== (BigInt(a) * BigInt(b)) % p) expect([a, b]).toBe("a right product");
    for (const a of drawn.slice(0, 10)) {
      expect(multiply(a, invert(a, prime), prime)).toBe(1);
      expect(BigInt(power(a, 12_345, prime))).toBe(powerOf(BigInt(a), 12_345n, p));
    }
  });

  test("integers of either sign and any size have a residue", () => {
    const p = A.primes[0];
    for (const value of [0n, -1n, p, -p, -p - 1n, 2n ** 90n, -(2n ** 90n), p - 1n])
      expect(BigInt(residueOfInteger(value, primeOf(p)))).toBe(modulo(value, p));
  });
});

/** By the definition, in integers. */
function valueAt(transform: Transform, a: Float64Array, index: number): bigint {
  const p = BigInt(transform.prime.p);
  const point = powerOf(BigInt(transform.psi), BigInt(2 * reverseBits(index, transform.degree) + 1), p);
  return a.reduceRight((value, coefficient) => (value * point + BigInt(coefficient)) % p, 0n);
}

/** a b modulo X^N + 1, coefficient by coefficient. */
function schoolbook(a: Float64Array, b: Float64Array, p: bigint): number[] {
  const product = Array.from(a, () => 0n);
  a.forEach((x, i) => {
    if (x === 0) return;
    b.forEach((y, j) => {
      const sign = i + j >= a.length ? -1n : 1n;
      product[(i + j) % a.length] += sign * BigInt(x) * BigInt(y);
    });
  });
  return product.map((value) => Number(modulo(value, p)));
}

function productOf(transform: Transform, a: Float64Array, b: Float64Array): number[] {
  const product = new Float64Array(transform.degree);
  transform.addProduct(product, transform.forward(a.slice()), transform.forward(b.slice()));
  return [...transform.backward(product)];
}

test.each([
  ["A", 4096],
  ["B", 8192],
] as const)("transforms of set %s match the definition and are invertible", (name, degree) => {
  for (const p of latticeSets[name].primes) {
    const transform = new Transform(p, degree);
    const largest = new Float64Array(degree).fill(Number(p) - 1);
    const drawn = Float64Array.from({ length: degree }, () => residue(p));
    for (const a of [drawn, largest, new Float64Array(degree).fill(Math.floor(Number(p) / 2))]) {
      const values = transform.forward(a.slice());
      for (const index of [0, 5, degree - 1]) expect(BigInt(values[index])).toBe(valueAt(transform, a, index));
      expect(transform.backward(values)).toEqual(a);
    }
  }
});

test("products are negacyclic, in full for a small ring and with few terms for the real one", () => {
  for (const p of B.primes) {
    const small = new Transform(p, 32);
    const [a, b] = [0, 1].map(() => Float64Array.from({ length: 32 }, () => residue(p)));
    expect(productOf(small, a, b)).toEqual(schoolbook(a, b, p));
  }
  const transform = new Transform(A.primes[1], 4096);
  const few = new Float64Array(4096);
  for (const index of [0, 1, 2047, 4095]) few[index] = residue(A.primes[1]);
  const dense = Float64Array.from(few, () => residue(A.primes[1]));
  expect(productOf(transform, few, dense)).toEqual(schoolbook(few, dense, A.primes[1]));
});

test("psi is a primitive 2N-th root of unity from the least base that has one", () => {
  for (const set of [A, B]) {
    for (const p of set.primes) {
      const { psi, degree } = new Transform(p, set.degree);
      const roots = [];
      for (let g = 2n; roots.length === 0; g++) {
        const root = powerOf(g, (p - 1n) / BigInt(2 * degree), p);
        if (powerOf(root, BigInt(degree), p) === p - 1n) roots.push(root);
      }
      expect([BigInt(psi)]).toEqual(roots);
    }
  }
});

test("the array of values reversed is the element at 1/X", () => {
  const transform = new Transform(A.primes[0], 64);
  const a = Float64Array.from({ length: 64 }, () => residue(A.primes[0]));
  // a(1/X): X^-j = -X^(N - j).
  const p = Number(A.primes[0]);
  const mirrored = Float64Array.from(a, (_, j) => (j === 0 ? a[0] : p - a[64 - j]));
  expect(transform.forward(mirrored)).toEqual(transform.forward(a.slice()).toReversed());
});
