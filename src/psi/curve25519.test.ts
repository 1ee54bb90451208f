import { createPublicKey, diffieHellman, generateKeyPairSync } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SeededRandom } from "../base/random.ts";
import {
  curveA,
  eulerSymbol,
  fieldPrime as p,
  isCanonical,
  isLargeOrderOnCurve,
  jacobiSymbol,
  readCoordinate,
  smallOrderCoordinates,
} from "./curve25519.ts";
import { maskPoints } from "./masking-thread.ts";

const fieldElement = fc.bigInt({ min: 0n, max: p - 1n });

function encoded(u: bigint): Uint8Array {
  return Uint8Array.from({ length: 32 }, (_, i) => Number((u >> BigInt(8 * i)) & 255n));
}

function randomElement(random: SeededRandom): bigint {
  let value = 0n;
  for (let i = 0; i < 8; i++) value = (value << 32n) | BigInt(random.uint32());
  return value % p;
}

/** The Montgomery ladder of RFC 7748, section 5, in bigint. */
function ladder(scalar: Uint8Array, u: bigint): bigint {
  let k = readCoordinate(scalar, 0);
  k = (k & ~7n & (2n ** 255n - 1n)) | (2n ** 254n);
  const mod = (x: bigint): bigint => ((x % p) + p) % p;
  let [x2, z2, x3, z3] = [1n, 0n, u, 1n];
  for (let t = 254n; t >= 0n; t--) {
    const bit = (k >> t) & 1n;
    if (bit === 1n) [x2, z2, x3, z3] = [x3, z3, x2, z2];
    const [a, b, c, d] = [x2 + z2, x2 - z2, x3 + z3, x3 - z3];
    const [aa, bb, da, cb] = [mod(a * a), mod(b * b), mod(d * a), mod(c * b)];
    const e = aa - bb;
    [x3, z3] = [mod((da + cb) ** 2n), mod(u * mod((da - cb) ** 2n))];
    [x2, z2] = [mod(aa * bb), mod(e * (aa + 121665n * e))];
    if (bit === 1n) [x2, z2, x3, z3] = [x3, z3, x2, z2];
  }
  let inverse = 1n;
  for (let [power, exponent] = [z2, p - 2n]; exponent > 0n; exponent >>= 1n, power = mod(power * power)) {
    if (exponent & 1n) inverse = mod(inverse * power);
  }
  return mod(x2 * inverse);
}

describe("Jacobi symbol", () => {
  test("equals Euler's criterion on random elements", () => {
    fc.assert(
      fc.property(fieldElement, (value) => jacobiSymbol(value) === eulerSymbol(value)),
      { numRuns: 300 },
    );
  });

  test("equals Euler's criterion on small, large and sparse elements", () => {
    for (let i = 0n; i < 64n; i++) {
      for (const value of [i, p - 1n - i, 2n ** (3n * i) - 1n, 2n ** (3n * i) + i, (p - 1n) >> i])
        expect(jacobiSymbol(value), String(value)).toBe(eulerSymbol(value));
    }
  });

  test("squares are 1, two times a square is -1, zero is 0", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: p - 1n }), (value) => {
        const square = (value * value) % p;
        return jacobiSymbol(square) === 1 && jacobiSymbol((2n * square) % p) === -1; // p is 5 modulo 8
      }),
      { numRuns: 1000 },
    );
    expect(jacobiSymbol(0n)).toBe(0);
  });
});

describe("on the curve or on the twist", () => {
  test("agrees with the definition", () => {
    fc.assert(
      fc.property(
        fieldElement,
        (u) =>
          isLargeOrderOnCurve(u) ===
          (eulerSymbol((u ** 3n + curveA * u * u + u) % p) === 1 && !smallOrderCoordinates.includes(u)),
      ),
      { numRuns: 300 },
    );
  });

  test("the base point and public keys are on the curve", () => {
    expect(isLargeOrderOnCurve(9n)).toBe(true);
    for (let i = 0; i < 20; i++) {
      const { x } = generateKeyPairSync("x25519").publicKey.export({ format: "jwk" });
      expect(isLargeOrderOnCurve(readCoordinate(Buffer.from(x ?? "", "base64url"), 0))).toBe(true);
    }
  });

  test("a mask never changes sides, so that a twist point would show through", () => {
    const { privateKey } = generateKeyPairSync("x25519");
    const random = new SeededRandom("sides");
    const sides = new Set<boolean>();
    for (let i = 0; i < 40; i++) {
      const point = encoded(randomElement(random));
      const before = isLargeOrderOnCurve(readCoordinate(point, 0));
      maskPoints({ createPublicKey, diffieHellman }, privateKey, point, 0, 1);
      expect(isLargeOrderOnCurve(readCoordinate(point, 0))).toBe(before);
      sides.add(before);
    }
    expect(sides.size).toBe(2);
  });

  test("points of small order are refused, and are of small order", () => {
    for (const u of smallOrderCoordinates) expect(isLargeOrderOnCurve(u), String(u)).toBe(false);
    // Doubling: x(2P) = (u^2 - 1)^2 / 4u(u^2 + A u + 1). Order 4 doubles to u = 0, order 8 to u = 1.
    const doublesTo = (u: bigint, target: bigint): boolean =>
      ((u * u - 1n) ** 2n - target * 4n * u * (u * u + curveA * u + 1n)) % p === 0n;
    const [, one, eighth, otherEighth, minusOne] = smallOrderCoordinates;
    expect([doublesTo(one, 0n), doublesTo(minusOne, 0n), doublesTo(eighth, 1n), doublesTo(otherEighth, 1n)]).toEqual([
      true,
      true,
      true,
      true,
    ]);
  });

  test("encodings of p and above are not canonical", () => {
    for (const u of [0n, 1n, p - 1n, 2n ** 255n - 20n, 2n ** 254n])
      expect(isCanonical(encoded(u), 0), String(u)).toBe(true);
    for (const u of [p, p + 1n, 2n ** 255n - 1n, 2n ** 255n, 2n ** 256n - 1n]) {
      expect(isCanonical(encoded(u), 0), String(u)).toBe(false);
      expect(isLargeOrderOnCurve(u)).toBe(false);
    }
    fc.assert(fc.property(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), (u) => isCanonical(encoded(u), 0) === u < p));
  });
});

describe("masking", () => {
  test("is X25519, and commutes", () => {
    const keys = [generateKeyPairSync("x25519").privateKey, generateKeyPairSync("x25519").privateKey];
    const scalars = keys.map((key) => Buffer.from(key.export({ format: "jwk" }).d ?? "", "base64url"));
    const random = new SeededRandom("ladder");
    for (let i = 0; i < 5; i++) {
      const u = randomElement(random);
      const both = [0, 1].map((first) => {
        const points = new Uint8Array(96);
        points.set(encoded(u), 32);
        maskPoints({ createPublicKey, diffieHellman }, keys[first], points, 1, 2);
        expect(readCoordinate(points, 32)).toBe(ladder(scalars[first], u));
        maskPoints({ createPublicKey, diffieHellman }, keys[1 - first], points, 1, 2);
        expect([...points.subarray(0, 32), ...points.subarray(64)].every((byte) => byte === 0)).toBe(true);
        return readCoordinate(points, 32);
      });
      expect(both[0]).toBe(both[1]);
      expect(both[0]).not.toBe(u);
    }
  });

  test("a point of small order becomes zero, in every encoding", () => {
    const { privateKey } = generateKeyPairSync("x25519");
    for (const u of smallOrderCoordinates) {
      for (const encoding of [u, u + p, u + 2n * p].filter((value) => value < 2n ** 256n)) {
        const point = encoded(encoding);
        maskPoints({ createPublicKey, diffieHellman }, privateKey, point, 0, 1);
        // X25519 ignores bit 255, so that u + 2p names u + 38 where it is that long.
        expect(readCoordinate(point, 0) === 0n, String(encoding)).toBe(
          smallOrderCoordinates.includes((encoding % 2n ** 255n) % p),
        );
      }
    }
  });
});
