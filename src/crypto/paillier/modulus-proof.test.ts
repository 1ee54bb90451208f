/** The proof about n, and malicious active parties without a valid one. */
import { beforeAll, describe, expect, test } from "vitest";
import {
  bestRoots,
  chained,
  type Factored,
  factored,
  primeAbove,
  primeOf,
  rootsRight,
} from "../../../test/support/bad-moduli.ts";
import { expectError } from "../../../test/support/expect-error.ts";
import { bitLength, gcd, integerBytes, power, readInteger } from "../integers.ts";
import { generateKey } from "./key-generation.ts";
import type { Kernel } from "./kernel.ts";
import { type PrivateKey, PublicKey } from "./keys.ts";
import { rootChallenges, checkModulusProof, modulusProof, rootCount } from "./modulus-proof.ts";
import { loadNativeKernel } from "./native-kernel.ts";
import { portableKernel } from "./portable-kernel.ts";
import { selectKernel } from "./select-kernel.ts";
import { PlaintextVector } from "./vectors.ts";

const bits = 256;
let key: PrivateKey;
let roots: Uint8Array[];
beforeAll(async () => {
  key = await generateKey({ bits, insecure: true });
  roots = await proofOf(key);
});

const publicOf = (n: bigint) => portableKernel.publicEvaluator(new PublicKey(n), { threads: 1 });

function proofOf(owner: PrivateKey, kernel: Kernel = portableKernel): Promise<Uint8Array[]> {
  const options = { threads: 2 };
  return modulusProof(kernel.privateEvaluator(owner, options), kernel.publicEvaluator(owner.publicKey, options));
}

const checked = (proof: readonly Uint8Array[], n = key.publicKey.n) => checkModulusProof(publicOf(n), proof);

describe("an honest key passes", () => {
  test.each([128, 130, 190, 256, 512, 1024, 2048])(
    "of %d bits, and all kernels make and accept the same proof",
    async (size) => {
      const owner = await generateKey({ bits: size, insecure: true });
      const best = await proofOf(owner, selectKernel());
      expect(best).toHaveLength(rootCount);
      await checkModulusProof(selectKernel().publicEvaluator(owner.publicKey, { threads: 1 }), best);
      const others = size > 1024 ? [] : [portableKernel, ...loadNativeKernel().kernels.values()];
      for (const kernel of others) {
        expect(await proofOf(owner, kernel)).toEqual(best);
        await checkModulusProof(kernel.publicEvaluator(owner.publicKey, { threads: 1 }), best);
      }
    },
  );

  test("roots are roots, by the textbook", () => {
    expect(rootsRight(key.publicKey.n, roots)).toEqual(roots.map(() => true));
    expect(new Set(rootChallenges(key.publicKey)).size).toBe(rootCount);
  });

  test("the challenges depend on n alone: another key has different ones", async () => {
    const other = await generateKey({ bits, insecure: true });
    await expectError(() => checked(roots, other.publicKey.n), "KEY_FORMAT", /phi\(n\)/);
  });
});

describe("roots of all values", () => {
  test.each([portableKernel, ...loadNativeKernel().kernels.values()])(
    "$name: boundary values, and values that are too large",
    async (kernel) => {
      const owner = kernel.privateEvaluator(key, { threads: 1 });
      const { n, plaintextBytes } = key.publicKey;
      const values = [0n, 1n, n - 1n, key.p, key.q * 3n, 2n];
      const flat = Buffer.concat(values.map((value) => integerBytes(value, plaintextBytes)));
      const found = await owner.nthRoots(new PlaintextVector(new Uint8Array(flat), plaintextBytes));
      const back = values.map((_, i) => power(readInteger(found.bytes, plaintextBytes, i), n, n));
      expect(back).toEqual(values);
      const large = new PlaintextVector(integerBytes(n, plaintextBytes), plaintextBytes);
      await expectError(() => owner.nthRoots(large), "INTERNAL", /below n/);
    },
  );
});

/** Moduli for which no proof must be accepted. Each shares a prime with phi(n). */
const bad: Record<string, () => Factored> = {
  "a prime that divides another one's order": () => chained(bits),
  "three primes in a chain": () =>
    factored(bits, (more) => {
      const p = primeOf(40);
      const q = primeAbove(80, p);
      return [p, q, primeAbove(136 + more, q)].map((prime) => ({ prime, exponent: 1 }));
    }),
  "a square of a prime, and another": () =>
    factored(bits, (more) => [
      { prime: primeOf(60), exponent: 2 },
      { prime: primeOf(136 + more), exponent: 1 },
    ]),
  "a perfect square": () => factored(bits, () => [{ prime: primeOf(128), exponent: 2 }]),
  "a power of one prime": () => factored(bits, () => [{ prime: primeOf(32), exponent: 8 }]),
  "the smallest primes that trial division leaves": () =>
    factored(bits, (more) => {
      const p = 65537n;
      return [
        { prime: p, exponent: 1 },
        { prime: primeAbove(239 + more, p), exponent: 1 },
      ];
    }),
};

describe("a bad n is rejected, whatever its creator knows", () => {
  test.each(Object.keys(bad))("%s", async (name) => {
    const made = bad[name]();
    const { n, factors } = made;
    const phi = factors.reduce(
      (product, { prime, exponent }) => product * prime ** BigInt(exponent - 1) * (prime - 1n),
      1n,
    );
    expect(gcd(n, phi)).not.toBe(1n);
    const proof = bestRoots(made);
    expect(rootsRight(n, proof)).toContain(false);
    await expectError(() => checked(proof, n), "KEY_FORMAT", /a root is wrong/);
  });

  test("small primes, although every root is correct", async () => {
    const notAbove = (size: number, divisor: bigint): bigint => {
      for (;;) {
        const prime = primeOf(size);
        if (prime % divisor !== 1n) return prime;
      }
    };
    for (const small of [3n, 251n, 65521n]) {
      const made = factored(bits, (more) => [
        { prime: small, exponent: 1 },
        { prime: notAbove(bits + more - bitLength(small), small), exponent: 1 },
      ]);
      const proof = bestRoots(made);
      expect(rootsRight(made.n, proof)).not.toContain(false);
      await expectError(() => checked(proof, made.n), "KEY_FORMAT", /prime factor below 2\^16/);
    }
  });

  test("a chain of small primes: r^n takes few values, which would reveal the summed instances", async () => {
    // p and 2 p + 1 throughout: n-th powers modulo these are 1 and -1, but for the first.
    const chain = [89n, 179n, 359n, 719n, 1439n, 2879n];
    const chainBits = bitLength(chain.reduce((product, prime) => product * prime));
    const made = factored(bits, (more) =>
      [...chain, primeOf(bits - chainBits + more)].map((prime) => ({ prime, exponent: 1 })),
    );
    for (const prime of chain.slice(1))
      expect(new Set(Array.from({ length: 50 }, (_, r) => power(BigInt(r + 1), made.n, prime))).size).toBe(2);
    await expectError(() => checked(bestRoots(made), made.n), "KEY_FORMAT", /prime factor below/);
  });

  test("a prime is accepted: it does not protect its creator, but it protects the other parties", async () => {
    const made = factored(bits, () => [{ prime: primeOf(bits), exponent: 1 }]);
    await expect(checked(bestRoots(made), made.n)).resolves.toBeUndefined();
  });

  test("many primes that share nothing with phi(n) are accepted: re-randomisation needs no more", async () => {
    for (;;) {
      const made = factored(bits, () => [64, 64, 64, 64].map((size) => ({ prime: primeOf(size), exponent: 1 })));
      const phi = made.factors.reduce((product, { prime }) => product * (prime - 1n), 1n);
      if (gcd(made.n, phi) !== 1n) continue;
      await expect(checked(bestRoots(made), made.n)).resolves.toBeUndefined();
      return;
    }
  });
});

describe("a proof is rejected", () => {
  const changed = (change: (proof: Uint8Array[]) => readonly Uint8Array[]) => () =>
    checked(change(roots.map((root) => root.slice())));
  const at = (index: number, value: Uint8Array) => (proof: Uint8Array[]) => proof.with(index, value);
  const width = bits / 8;

  test.each<[string, (proof: Uint8Array[]) => readonly Uint8Array[], RegExp]>([
    ["without roots", () => [], /0 roots, not 8/],
    ["one short", (proof) => proof.slice(1), /7 roots/],
    ["one too many", (proof) => [...proof, proof[0]], /9 roots/],
    ["with one root for all", (proof) => proof.map(() => proof[0]), /a root is wrong/],
    ["reordered", (proof) => proof.toReversed(), /a root is wrong/],
    ["with two exchanged", (proof) => proof.with(0, proof[1]).with(1, proof[0]), /a root is wrong/],
    ["with a bit changed", (proof) => proof.with(7, proof[7].with(0, proof[7][0] ^ 1)), /a root is wrong/],
    ["with a shorter root", (proof) => proof.with(3, proof[3].slice(0, -1)), /as wide as n/],
    ["with a longer root", (proof) => proof.with(3, Uint8Array.of(...proof[3], 0)), /as wide as n/],
    ["with an empty root", at(2, new Uint8Array(0)), /as wide as n/],
    ["with zero", at(2, new Uint8Array(width)), /as wide as n/],
    ["with the largest number there is", at(2, new Uint8Array(width).fill(255)), /as wide as n/],
  ])("%s", async (_name, change, message) => {
    await expectError(changed(change), "KEY_FORMAT", message);
  });

  test("with a root from n on, or one that shares a factor with n", async () => {
    const { n } = key.publicKey;
    for (const value of [n, n + 1n, key.p, key.q * 2n])
      await expectError(changed(at(5, integerBytes(value, width))), "KEY_FORMAT", /shares no factor/);
  });

  test("with the numbers themselves", async () => {
    const numbers = rootChallenges(key.publicKey).map((value) => integerBytes(value, width));
    await expectError(() => checked(numbers), "KEY_FORMAT", /a root is wrong/);
  });
});
