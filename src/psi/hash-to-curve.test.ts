import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { curveA, eulerSymbol, fieldPrime as p, readCoordinate } from "./curve25519.ts";
import { hashToCurve } from "./hash-to-curve.ts";

function pointOf(id: string): Buffer {
  const point = Buffer.alloc(32);
  hashToCurve(id, point, 0);
  return point;
}

/** The definition, written again. */
function firstOnCurve(id: string): { point: Buffer; attempts: number } {
  for (let attempts = 1; ; attempts++) {
    const counter = Math.floor((attempts - 1) / 2);
    const digest = createHash("sha512").update(`tandem/psi/v2//${counter}/${id}`).digest();
    const half = attempts % 2 === 1 ? digest.subarray(0, 32) : digest.subarray(32);
    half[31] &= 0x7f;
    const u = readCoordinate(half, 0);
    if (eulerSymbol((u ** 3n + curveA * u * u + u) % p) === 1) return { point: half, attempts };
  }
}

describe("hashToCurve", () => {
  test("is the first half digest on the curve; half of them are", () => {
    let attempts = 0;
    const count = 300;
    for (let i = 0; i < count; i++) {
      const expected = firstOnCurve(`person ${i}`);
      expect(pointOf(`person ${i}`).equals(expected.point)).toBe(true);
      attempts += expected.attempts;
    }
    // Geometric with p = 1/2: mean 2, standard deviation sqrt(2). The ids are fixed.
    expect(Math.abs(attempts / count - 2)).toBeLessThan(4 * Math.sqrt(2 / count));
  });

  test("does not change: both parties must find the same point", () => {
    expect(pointOf("4711").toString("hex")).toBe("5635e4a57fcb7fc3f33796c51aea617b7c16008e2589df601e4dc9499b09a41f");
    const beyondAscii = pointOf("Zoë 🙂").toString("hex");
    expect(beyondAscii).toBe("644c5374eb283fd7309c9640b220be559e67a9e6b3322f8e38949e0da75a7f2c");
  });

  test("is another point for another active party", () => {
    const bound = Buffer.alloc(32);
    hashToCurve("4711", bound, 0, "ab".repeat(32));
    expect(bound.toString("hex")).toBe("bf2eba02903385845eaf5a6bc69c62f97c7621c7084799a8bf5df0f072d8d05c");
    expect(bound.equals(pointOf("4711"))).toBe(false);
  });

  test("ids that look like a counter get different points", () => {
    const points = ["1", "0/1", "/1", "1/", "", "0", "00"].map((id) => pointOf(id).toString("hex"));
    expect(new Set(points).size).toBe(points.length);
  });

  test("writes nothing but the point", () => {
    const points = Buffer.alloc(96, 7);
    hashToCurve("x", points, 32);
    expect(points.subarray(32, 64).equals(pointOf("x"))).toBe(true);
    expect([...points.subarray(0, 32), ...points.subarray(64)].every((byte) => byte === 7)).toBe(true);
  });
});
