import { describe, expect, test } from "vitest";
import { SeededRandom } from "../../src/base/random.ts";
import { batchcryptDecode, batchcryptEncode, batchcryptFields, batchcryptQuantise } from "./batchcrypt.ts";
import { quantiseValue, type Slot, slotResolution } from "../../src/codec/slot.ts";

const slot = { alpha: 127, r: 8, overflowBits: 2 };

describe("BatchCrypt's overflow (paper, Fig. 2)", () => {
  test("-1 plus -6 turns the overflow bits from 00 to 01 although -7 is in range", () => {
    const encoded = [-1, -6].map((value) => batchcryptEncode(slot, [value]));
    expect(encoded.map((z) => batchcryptFields(slot, z, 1)[0].overflow)).toEqual([0, 0]);
    expect(batchcryptFields(slot, encoded[0] + encoded[1], 1)).toEqual([{ overflow: 0b01, value: -7 }]);
  });

  test("four small negatives set them to 11 and raise an overflow error; five positives of that size do not", () => {
    const sum = (values: number[]): bigint =>
      values.reduce((total, value) => total + batchcryptEncode(slot, [value]), 0n);
    expect(() => batchcryptDecode(slot, sum([-1, -1, -1, -1]), 1)).toThrow(/overflow bits of a slot are all ones/);
    expect(batchcryptDecode(slot, sum([1, 1, 1, 1, 1]), 1)).toEqual([5]);
  });

  test("the carry of a lower slot spills into the next: without an error the neighbour is simply wrong", () => {
    const many = Array.from({ length: 5 }, () => batchcryptEncode(slot, [3, -2]));
    const fields = batchcryptFields(
      slot,
      many.reduce((a, b) => a + b, 0n),
      2,
    );
    expect(fields[1].value).toBe(-10);
    expect(fields[0].value).not.toBe(15);
  });

  test("the batched slots of the paper get the same sums right", () => {
    const random = new SeededRandom(2);
    const proposed: Slot = { shift: -127, alpha: 254, alphaMax: 2 ** 20, r: 24, padding: 2 };
    for (const count of [2, 4, 5, 50, 500]) {
      const values = Array.from({ length: count }, () => random.below(13) - 9);
      const exact = values.reduce((a, b) => a + b, 0);
      const sum = values.reduce((total, value) => total + quantiseValue(proposed, value), 0);
      const decoded = sum * slotResolution(proposed) + count * proposed.shift;
      expect(Math.abs(decoded - exact)).toBeLessThanOrEqual((count / 2) * slotResolution(proposed));
    }
  });

  test("quantisation truncates to [-alpha, alpha] and is symmetric", () => {
    expect([-500, -127, 0, 127, 500].map((value) => batchcryptQuantise(slot, value))).toEqual([
      -127, -127, 0, 127, 127,
    ]);
  });
});
