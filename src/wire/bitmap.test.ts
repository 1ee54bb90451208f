import fc from "fast-check";
import { expect, test } from "vitest";
import { expectError } from "../../test/support/expect-error.ts";
import { bitmapFrom, checkBitmap, isSet, partition } from "./bitmap.ts";

test("one bit per position, lowest first", () => {
  expect([...bitmapFrom(10, (i) => i === 0 || i === 9)]).toEqual([1, 2]);
  expect(bitmapFrom(0, () => true).length).toBe(0);
  expect(bitmapFrom(8, () => true)).toEqual(Uint8Array.of(255));
});

test("partition splits by the bits and keeps the order of both sides", () => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), { maxLength: 40 }), (bits) => {
      const items = Uint32Array.from(bits, (_, i) => 7 * i + 3);
      const bitmap = bitmapFrom(bits.length, (i) => bits[i]);
      expect(bits.map((_, i) => isSet(bitmap, i))).toEqual(bits);
      const { inside, outside } = partition(items, bitmap);
      expect([...inside]).toEqual([...items].filter((_, i) => bits[i]));
      expect([...outside]).toEqual([...items].filter((_, i) => !bits[i]));
    }),
  );
});

test("a bitmap of another length is refused, not read beyond its end", async () => {
  for (const [bytes, count] of [
    [1, 9],
    [2, 8],
    [0, 1],
    [1, 0],
  ]) {
    await expectError(
      () => partition(new Uint32Array(count), new Uint8Array(bytes)),
      "PROTOCOL_STATE",
      new RegExp(`${bytes} bytes; ${Math.ceil(count / 8)} `),
    );
  }
  expect(() => checkBitmap(new Uint8Array(2), 9)).not.toThrow();
});
