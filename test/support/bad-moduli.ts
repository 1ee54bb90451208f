/** What an active party might send as n, with the factors that only it knows, and the best proof that it can make. */
import { generatePrimeSync } from "node:crypto";
import { bitLength, gcd, integerBytes, inverse, modulo, power, readInteger } from "../../src/crypto/integers.ts";
import { rootChallenges } from "../../src/crypto/paillier/modulus-proof.ts";
import { PublicKey } from "../../src/crypto/paillier/keys.ts";

/** n by its prime powers. */
export interface Factored {
  readonly n: bigint;
  readonly factors: readonly { readonly prime: bigint; readonly exponent: number }[];
}

/**
 * Draws until n has exactly `bits` bits. @param draw called with 0 and 1 alternately: a bit that a prime may be longer
 */
export function factored(bits: number, draw: (more: 0 | 1) => Factored["factors"]): Factored {
  for (let attempt = 0; attempt < 1000; attempt++) {
    const factors = draw(attempt % 2 === 0 ? 0 : 1);
    const n = factors.reduce((product, { prime, exponent }) => product * prime ** BigInt(exponent), 1n);
    if (bitLength(n) === bits) return { n, factors };
  }
  throw new Error(`no number of ${bits} bits was found`);
}

export const primeOf = (bits: number): bigint => generatePrimeSync(bits, { bigint: true });
/** A prime with `divisor` in prime - 1. */
export const primeAbove = (bits: number, divisor: bigint): bigint =>
  generatePrimeSync(bits, { bigint: true, add: 2n * divisor, rem: 1n });

/** The attack's shape: one prime divides another one's group order, so r^n forgets a part of r. */
export function chained(bits: number): Factored {
  return factored(bits, (more) => {
    const p = primeOf(bits / 2 - 20);
    return [
      { prime: p, exponent: 1 },
      { prime: primeAbove(bits / 2 + 20 + more, p), exponent: 1 },
    ];
  });
}

/** Roots of the numbers that have one, and of the others whatever fits modulo the other prime powers. */
export function bestRoots({ n, factors }: Factored): Uint8Array[] {
  const key = new PublicKey(n);
  return rootChallenges(key).map((value) => {
    const parts = factors.map(({ prime, exponent }) => {
      const modulus = prime ** BigInt(exponent);
      const order = (modulus / prime) * (prime - 1n);
      // Where n has no inverse, the inverse of what is left of it: right for every power that it can be right for.
      let rest = n;
      for (let shared = gcd(rest, order); shared !== 1n; shared = gcd(rest, order)) rest /= shared;
      return { modulus, root: power(value, inverse(rest, order) ?? 1n, modulus) };
    });
    return integerBytes(combined(parts, n), key.plaintextBytes);
  });
}

function combined(parts: readonly { readonly modulus: bigint; readonly root: bigint }[], n: bigint): bigint {
  const sum = parts.reduce((total, { modulus, root }) => {
    const others = n / modulus;
    return total + root * others * (inverse(others, modulus) ?? 0n);
  }, 0n);
  return modulo(sum, n);
}

/** Whether the roots are right modulo n: what a cheat knows beforehand. */
export function rootsRight(n: bigint, roots: readonly Uint8Array[]): boolean[] {
  const key = new PublicKey(n);
  return rootChallenges(key).map((value, i) => power(readInteger(roots[i], key.plaintextBytes, 0), n, n) === value);
}
