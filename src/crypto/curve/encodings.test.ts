/** Every encoding that is refused: RFC 8032 names some, and Python's integers found the points of small order. */
import { describe, expect, test } from "vitest";
import { curveKernels } from "../../../test/support/curve-kernels.ts";
import { expectError } from "../../../test/support/expect-error.ts";
import { encodedAll, fieldPrime, isSmallOrder, decodedAnyOrder } from "../edwards25519.ts";
import { integerBytes } from "../integers.ts";

const bytesOf = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, "hex"));

/** The public keys of RFC 8032, 7.1. */
const publicKeys = [
  "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
  "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
  "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
  "278117fc144c72340f67d0f2316e8386ceffbf2b2428c9c51fef7c597f1d426e",
];

/** The 8 points of small order: y is 1, -1, 0 (twice), and two values that both signs have. */
const smallOrder = [
  "0100000000000000000000000000000000000000000000000000000000000000",
  "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "0000000000000000000000000000000000000000000000000000000000000000",
  "0000000000000000000000000000000000000000000000000000000000000080",
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
];

describe.each(curveKernels)("points of rows: $name", (kernel) => {
  const curve = kernel.curve(1);
  const load = (bytes: Uint8Array): Promise<void> => curve.load(bytes, curve.points(1, 1), Uint32Array.of(0));

  test("the keys of RFC 8032 are accepted, and encoded again to the same bytes", async () => {
    for (const key of publicKeys) {
      const sums = await curve.decode(bytesOf(key), 1);
      expect(Buffer.from(await curve.encode(sums)).toString("hex")).toBe(key);
      expect((await curve.keys(bytesOf(key))).count).toBe(1);
    }
  });

  test("points of small order are accepted as rows", async () => {
    for (const point of smallOrder) {
      expect(isSmallOrder(decodedAnyOrder(bytesOf(point)))).toBe(true);
      expect(Buffer.from(encodedAll([decodedAnyOrder(bytesOf(point))])).toString("hex")).toBe(point);
      await load(bytesOf(point));
    }
  });

  test("points of small order are refused as keys", async () => {
    for (const point of smallOrder)
      await expectError(() => curve.keys(bytesOf(point)), "CIPHERTEXT_RANGE", /point 0 is not a valid point/);
  });

  test("x = 0 with a sign bit is refused", async () => {
    for (const y of [1n, fieldPrime - 1n])
      await expectError(() => load(integerBytes(y | (1n << 255n), 32)), "CIPHERTEXT_RANGE", /point 0/);
  });

  test("y of p and more is refused, also where y - p is valid", async () => {
    for (let y = fieldPrime; y < 2n ** 255n; y++)
      for (const sign of [0n, 1n])
        await expectError(() => load(integerBytes(y | (sign << 255n), 32)), "CIPHERTEXT_RANGE", /point 0/);
  });

  test("y without x is refused, and the first such point is named", async () => {
    await expectError(() => load(integerBytes(2n, 32)), "CIPHERTEXT_RANGE", /point 0/);
    const three = Buffer.concat([bytesOf(publicKeys[0]), integerBytes(2n, 32), integerBytes(2n, 32)]);
    const target = curve.points(3, 1);
    await expectError(() => curve.load(three, target, Uint32Array.of(0, 1, 2)), "CIPHERTEXT_RANGE", /point 1/);
    await expectError(() => curve.decode(three, 1), "CIPHERTEXT_RANGE", /point 1/);
  });
});
