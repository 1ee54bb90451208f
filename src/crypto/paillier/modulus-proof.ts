/**
 * The proof that gcd(n, phi(n)) = 1, as Goldberg, Reyzin, Sagga and Baldimtsi give it ("Efficient Noninteractive
 * Certification of RSA Moduli and Beyond", ASIACRYPT 2019): n-th roots modulo n of numbers that follow from n by
 * hashing, and no prime below `factorMin` in n.
 *
 * Purpose. With gcd(n, phi(n)) = 1 the map (m, r) -> (1 + n)^m r^n is a bijection from Z_n x Z_n^* to Z_(n^2)^*. So
 * every number that shares no factor with n is the ciphertext of one m, and a fresh r^n leaves nothing of it but m.
 * Otherwise r^n may take few values only: then the creator of n still sees which ciphertexts were multiplied.
 *
 * Soundness. Suppose that a prime p divides n and phi(n); by the trial division it is at least `factorMin`. Then the
 * n-th powers are a subgroup of Z_n^* of index p or more: p divides q - 1 for a prime q of n, or p^2 divides n. A
 * uniform unit has a root with probability at most 1/p, and all `rootCount` of them with at most 2^-128.
 *
 * Disclosure. Roots of numbers that no party chose: anyone with n can make such pairs alone, as x and x^n.
 */
import { assert } from "../../base/assert.ts";
import { TandemError } from "../../base/error.ts";
import { gcd, integerBytes, readInteger } from "../integers.ts";
import { hashedBelow } from "./hashed-integers.ts";
import type { PrivateEvaluator, PublicEvaluator } from "./kernel.ts";
import type { PublicKey } from "./keys.ts";
import { plaintextsFromBigints } from "./signed-plaintexts.ts";
import { CiphertextVector } from "./vectors.ts";

/** alpha: no prime below it divides n. */
export const factorMin = 2 ** 16;
/** ceil(128 / log2 alpha). */
export const rootCount = 8;

/** The roots, little-endian, plaintextBytes wide. @param evaluator of the same key, to check them before they are
 * sent */
export async function modulusProof(owner: PrivateEvaluator, evaluator: PublicEvaluator): Promise<Uint8Array[]> {
  const { publicKey: key } = owner.key;
  const { bytes, sizeBytes, count } = await owner.nthRoots(plaintextsFromBigints(key, rootChallenges(key)));
  const roots = Array.from({ length: count }, (_, i) => bytes.slice(i * sizeBytes, (i + 1) * sizeBytes));
  // A root that is correct modulo one prime only would reveal that prime (Boneh, DeMillo and Lipton, EUROCRYPT 1997).
  assert(await areRoots(evaluator, roots), "computed roots are roots");
  return roots;
}

/** @throws TandemError KEY_FORMAT if the proof is invalid */
export async function checkModulusProof(evaluator: PublicEvaluator, roots: readonly Uint8Array[]): Promise<void> {
  const { key } = evaluator;
  if (hasSmallFactor(key.n)) throw refusal("n has a prime factor below 2^16");
  if (roots.length !== rootCount) throw refusal(`it has ${roots.length} roots, not ${rootCount}`);
  if (roots.some((root) => root.length !== key.plaintextBytes || !isUnit(rootOf(root), key)))
    throw refusal("a root is not a number below n, as wide as n, that shares no factor with it");
  if (!(await areRoots(evaluator, roots))) throw refusal("a root is wrong");
}

function refusal(reason: string): TandemError {
  return new TandemError("KEY_FORMAT", `the public key has no valid proof that n and phi(n) are coprime: ${reason}`);
}

/** Units modulo n, uniform in the random oracle model. */
export function rootChallenges(key: PublicKey): bigint[] {
  const seed = integerBytes(key.n, key.plaintextBytes);
  const found: bigint[] = [];
  for (let index = 0; found.length < rootCount; index++) {
    const value = hashedBelow(`modulus-proof/${key.bits}`, seed, index, key.n);
    // Rejection almost never happens; but for an n with many factors the rest must still be uniform among the units.
    if (isUnit(value, key)) found.push(value);
  }
  return found;
}

/** @param roots units modulo n */
async function areRoots(evaluator: PublicEvaluator, roots: readonly Uint8Array[]): Promise<boolean> {
  const { key } = evaluator;
  const { n, ciphertextBytes } = key;
  const bytes = new Uint8Array(roots.length * ciphertextBytes);
  for (const [i, root] of roots.entries()) bytes.set(root, i * ciphertextBytes);
  const bases = evaluator.allocate(roots.length);
  await evaluator.load(new CiphertextVector(bytes, ciphertextBytes), bases, 0);
  // x^(n-1) x: scalars are below n.
  const scalars = plaintextsFromBigints(
    key,
    roots.map(() => n - 1n),
  );
  const powers = await evaluator.unload(await evaluator.add(await evaluator.scale(bases, scalars), bases));
  return rootChallenges(key).every((value, i) => readInteger(powers.bytes, ciphertextBytes, i) % n === value);
}

function rootOf(bytes: Uint8Array): bigint {
  return readInteger(bytes, bytes.length, 0);
}

function isUnit(value: bigint, { n }: PublicKey): boolean {
  return value > 0n && value < n && gcd(value, n) === 1n;
}

let smallPrimes: readonly bigint[] | undefined;

function hasSmallFactor(n: bigint): boolean {
  smallPrimes ??= primesBelow(factorMin);
  return smallPrimes.some((prime) => n % prime === 0n);
}

function primesBelow(bound: number): bigint[] {
  const isComposite = new Uint8Array(bound);
  const primes: bigint[] = [];
  for (let i = 2; i < bound; i++) {
    if (isComposite[i] === 1) continue;
    primes.push(BigInt(i));
    for (let multiple = i * i; multiple < bound; multiple += i) isComposite[multiple] = 1;
  }
  return primes;
}
