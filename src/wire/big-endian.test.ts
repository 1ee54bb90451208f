import fc from "fast-check";
import { expect, test } from "vitest";
import { bigEndianBytes, bigEndianNumber } from "./big-endian.ts";

test("round trip, highest byte first, no leading zero", () => {
  expect([...bigEndianBytes(0x0102n)]).toEqual([1, 2]);
  expect([...bigEndianBytes(0xfffn)]).toEqual([0x0f, 0xff]);
  expect(bigEndianNumber(new Uint8Array(0))).toBe(0n);
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 2n ** 200n }), (value) => {
      const bytes = bigEndianBytes(value);
      expect(bytes[0]).not.toBe(0);
      expect(bigEndianNumber(bytes)).toBe(value);
    }),
  );
});
