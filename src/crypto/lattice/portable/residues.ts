/**
 * Residues modulo the primes of a set, as doubles. A prime is 2^50 - c with c < 2^21, so 2^50 is c: products need no
 * division, only halves of 25 bits, whose products are exact. Everything stays below 2^53.
 *
 * Not constant-time, as nothing in the portable kernel.
 */
import { assert } from "../../../base/assert.ts";

export interface Prime {
  readonly p: number;
  /** 2^50 - p. */
  readonly c: number;
}

const half = 2 ** 25;
const whole = 2 ** 50;

export function primeOf(prime: bigint): Prime {
  const p = Number(prime);
  const c = whole - p;
  assert(c > 0 && c < 2 ** 21, "a prime just below 2^50");
  return { p, c };
}

/** a b mod p, for residues a and b. */
export function multiply(a: number, b: number, { p, c }: Prime): number {
  const a1 = Math.floor(a / half);
  const a0 = a - a1 * half;
  const b1 = Math.floor(b / half);
  const b0 = b - b1 * half;
  const high = a1 * b1;
  const h1 = Math.floor(high / half);
  const h0 = high - h1 * half;
  // ab = middle 2^25 + h0 c + a0 b0, with middle below 2^52.
  const middle = h1 * c + a1 * b0 + a0 * b1;
  const m1 = Math.floor(middle / half);
  const m0 = middle - m1 * half;
  // Below 2^48 + 2^50 + 2^46 + 2^50.
  const rest = m1 * c + m0 * half + h0 * c + a0 * b0;
  const result = rest - Math.floor(rest / whole) * p;
  return result >= p ? result - p : result;
}

export function add(a: number, b: number, { p }: Prime): number {
  const sum = a + b;
  return sum >= p ? sum - p : sum;
}

export function subtract(a: number, b: number, { p }: Prime): number {
  const difference = a - b;
  return difference < 0 ? difference + p : difference;
}

/** The residue of a whole number with |value| < p. */
export const residueOf = (value: number, { p }: Prime): number => (value < 0 ? value + p : value);

/** The residue of any integer. */
export function residueOfInteger(value: bigint, { p }: Prime): number {
  return residueOf(Number(value % BigInt(p)), { p, c: 0 });
}

/** base^exponent mod p, exponent below 2^53. */
export function power(base: number, exponent: number, prime: Prime): number {
  let result = 1;
  let square = base;
  for (let rest = exponent; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) result = multiply(result, square, prime);
    square = multiply(square, square, prime);
  }
  return result;
}

export const invert = (value: number, prime: Prime): number => power(value, prime.p - 2, prime);
