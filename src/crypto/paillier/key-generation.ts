/**
 * Key generation. Primes are p = 2 f p' + 1. Here p' is a random prime of |p| - 16 bits from OpenSSL, and f a random
 * number of about 15 bits, which trial division factors. A large p' resists Pollard's p-1 attack. The factors of p - 1
 * are known then, and give a generator of Z_p^*. The top two bits of p and q are set, so that n has exactly the wanted
 * size. The time taken depends on the secret primes, as in every generator of random primes.
 */
import { checkPrime, generatePrime } from "node:crypto";
import { promisify } from "node:util";

import { assert } from "../../base/assert.ts";
import { TandemError } from "../../base/error.ts";
import { osRandom } from "../../base/random.ts";
import { gcd, power } from "../integers.ts";
import { keyBitsMax, keyBitsMin, keyBitsSecure, PrivateKey, type SecretPrime } from "./keys.ts";
import { uniformBelow } from "./nonces.ts";

const checkPrimeAsync = promisify(checkPrime);

function generatePrimeAsync(bits: number): Promise<bigint> {
  return new Promise((resolve, reject) => {
    generatePrime(bits, { bigint: true }, (error, prime) => (error ? reject(error) : resolve(prime)));
  });
}

export interface KeyOptions {
  readonly bits: number;
  /** Allows keys below 2048 bits: for the paper's experiments and for tests. */
  readonly insecure?: boolean;
}

/**
 * @throws TandemError USAGE for a size that is odd or out of bounds
 * @throws TandemError KEY_TOO_SHORT below 2048 bits unless `insecure` is set
 */
export async function generateKey(options: KeyOptions): Promise<PrivateKey> {
  const { bits } = options;
  checkKeyBits(bits, options.insecure ?? false);
  for (;;) {
    const [p, q] = await Promise.all([generateSecretPrime(bits / 2), generateSecretPrime(bits / 2)]);
    const phi = (p.prime - 1n) * (q.prime - 1n);
    if (p.prime !== q.prime && gcd(p.prime * q.prime, phi) === 1n) return new PrivateKey(p, q);
  }
}

/**
 * @param insecure allows keys below 2048 bits
 * @throws TandemError USAGE for a size that is odd or out of bounds
 * @throws TandemError KEY_TOO_SHORT below 2048 bits unless `insecure` is set
 */
export function checkKeyBits(bits: number, insecure: boolean): void {
  if (!Number.isInteger(bits) || bits % 2 !== 0 || bits < keyBitsMin || bits > keyBitsMax) {
    throw new TandemError("USAGE", `key bits must be an even integer from ${keyBitsMin} to ${keyBitsMax}; got ${bits}`);
  }
  requireSecureBits(bits, insecure);
}

/** @throws TandemError KEY_TOO_SHORT */
export function requireSecureBits(bits: number, insecure: boolean): void {
  if (bits >= keyBitsSecure || insecure) return;
  throw new TandemError(
    "KEY_TOO_SHORT",
    `a key of ${bits} bits can be factored; use ${keyBitsSecure} or more, ` +
      `or, for experiments, --insecure-key-bits ${bits}`,
  );
}

/** Bits of 2 f: p' has |p| - 16 bits. */
const cofactorBits = 16;
/** Tries per p'. A hit takes about 350 tries at 1024 bits and 710 at 2048; after these a new p' is drawn. */
const cofactorTries = 4000;

async function generateSecretPrime(bits: number): Promise<SecretPrime> {
  for (;;) {
    const subprime = await generatePrimeAsync(bits - cofactorBits);
    // p in [3/4 2^bits, 2^bits) bounds f on both sides.
    const lowest = (3n << BigInt(bits - 2)) / (2n * subprime) + 1n;
    const highest = ((1n << BigInt(bits)) - 2n) / (2n * subprime);
    for (let tries = 0; tries < cofactorTries; tries++) {
      const cofactor = lowest + uniformBelow(osRandom, highest - lowest + 1n);
      const prime = 2n * cofactor * subprime + 1n;
      if (hasSmallFactor(prime) || !(await checkPrimeAsync(prime))) continue;
      return { prime, subprime, cofactor, generator: findGenerator(prime, subprime, cofactor) };
    }
  }
}

/** Product of the odd primes below 100: one remainder spares most calls into OpenSSL. */
const smallPrimes = [
  3n,
  5n,
  7n,
  11n,
  13n,
  17n,
  19n,
  23n,
  29n,
  31n,
  37n,
  41n,
  43n,
  47n,
  53n,
  59n,
  61n,
  67n,
  71n,
  73n,
  79n,
  83n,
  89n,
  97n,
];
const smallPrimesProduct = smallPrimes.reduce((product, prime) => product * prime);

function hasSmallFactor(candidate: bigint): boolean {
  const rest = candidate % smallPrimesProduct;
  return smallPrimes.some((prime) => rest % prime === 0n);
}

function findGenerator(prime: bigint, subprime: bigint, cofactor: bigint): bigint {
  for (;;) {
    const candidate = 2n + uniformBelow(osRandom, prime - 3n);
    if (isGenerator({ prime, subprime, cofactor, generator: candidate })) return candidate;
  }
}

/**
 * Whether `generator` generates Z_p^*: g^((p-1)/l) != 1 for every prime l that divides p - 1 = 2 f p'. Together with
 * g^(p-1) = 1 this also proves p prime (Lucas), given that p' is.
 */
export function isGenerator({ prime, subprime, cofactor, generator }: SecretPrime): boolean {
  if (generator <= 1n || generator >= prime) return false;
  const order = prime - 1n;
  const divisors = new Set([2n, subprime, ...primeFactors(cofactor)]);
  if (power(generator, order, prime) !== 1n) return false;
  return [...divisors].every((divisor) => power(generator, order / divisor, prime) !== 1n);
}

/** Prime factors of a small number, by trial division. */
export function primeFactors(value: bigint): bigint[] {
  assert(value > 0n && value < 1n << 32n, "a cofactor is small enough to be factored by trial division");
  let rest = Number(value);
  const factors: bigint[] = [];
  for (let divisor = 2; divisor * divisor <= rest; divisor++) {
    if (rest % divisor !== 0) continue;
    factors.push(BigInt(divisor));
    while (rest % divisor === 0) rest /= divisor;
  }
  if (rest > 1) factors.push(BigInt(rest));
  return factors;
}
