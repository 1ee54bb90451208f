import fc from "fast-check";
import { expect, test } from "vitest";
import { readField, writeField } from "./bit-fields.ts";

const field = fc
  .integer({ min: 1, max: 53 })
  .chain((width) => fc.tuple(fc.constant(width), fc.bigInt({ min: 0n, max: (1n << BigInt(width)) - 1n })));

test("fields written side by side are read back, and equal the same number built from bigints", () => {
  fc.assert(
    fc.property(fc.array(field, { minLength: 1, maxLength: 12 }), fc.integer({ min: 0, max: 17 }), (fields, start) => {
      const totalBits = fields.reduce((sum, [width]) => sum + width, start);
      const bytes = new Uint8Array(Math.ceil(totalBits / 8) + 1);
      let offset = start;
      let expected = 0n;
      for (const [width, value] of fields) {
        writeField(bytes, offset, Number(value));
        expected |= value << BigInt(offset);
        offset += width;
      }
      expect(BigInt(`0x${Buffer.from(bytes).reverse().toString("hex")}`)).toBe(expected);
      offset = start;
      for (const [width, value] of fields) {
        expect(readField(bytes, offset, width)).toBe(Number(value));
        offset += width;
      }
    }),
  );
});
