import { describe, expect, test } from "vitest";
import { PackedTexts } from "../base/text/packed-texts.ts";
import { osRandom, SeededRandom } from "../base/random.ts";
import { byAscendingId } from "./common-order.ts";
import { PointTable } from "./point-table.ts";
import { randomPermutation } from "./random-permutation.ts";

describe("PointTable", () => {
  test("finds every point at its index, and nothing else", () => {
    const points = osRandom.fill(new Uint8Array(32 * 3000));
    const table = new PointTable(2000, osRandom);
    for (let i = 0; i < 2000; i++) expect(table.add(points, 32 * i)).toBe(true);
    for (let i = 0; i < 3000; i++) expect(table.indexOf(points, 32 * i)).toBe(i < 2000 ? i : -1);
    expect(table.add(points, 0)).toBe(false);
    expect(table.size).toBe(2000);
    expect(() => table.add(points, 32 * 2000)).toThrow("room");
  });

  test("compares all 32 bytes", () => {
    const point = osRandom.fill(new Uint8Array(32));
    const table = new PointTable(40, osRandom);
    table.add(point, 0);
    for (let i = 0; i < 32; i++) {
      const other = point.slice();
      other[i] ^= 1 << (i % 8);
      expect(table.indexOf(other, 0), `byte ${i}`).toBe(-1);
      expect(table.add(other, 0)).toBe(true);
    }
    expect(table.indexOf(point, 0)).toBe(0);
  });

  test("an empty table has nothing", () => {
    expect(new PointTable(0, osRandom).indexOf(new Uint8Array(32), 0)).toBe(-1);
  });
});

describe("randomPermutation", () => {
  test("is a permutation, another one each time, every element everywhere", async () => {
    const order = await randomPermutation(10_000, osRandom);
    expect(order.toSorted()).toEqual(Uint32Array.from({ length: 10_000 }, (_, i) => i));
    expect(order).not.toEqual(await randomPermutation(10_000, osRandom));
    expect([await randomPermutation(0, osRandom), await randomPermutation(1, osRandom)]).toEqual([
      new Uint32Array(0),
      Uint32Array.of(0),
    ]);
    const counts = new Map<string, number>();
    for (let i = 0; i < 2400; i++) {
      const key = (await randomPermutation(4, osRandom)).join();
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    expect(counts.size).toBe(24);
    // Mean 100, standard deviation 9.8: 6 of them once in 10^7 runs.
    for (const count of counts.values()) expect(Math.abs(count - 100)).toBeLessThan(60);
  });
});

describe("byAscendingId", () => {
  test.each([0, 1, 2, 1023, 1024, 1025, 5000])("sorts %i ids by code units", async (count) => {
    const random = new SeededRandom(count);
    const ids = Array.from(
      { length: count + 10 },
      () => String.fromCodePoint(random.below(0xd000), 0x1f600 + random.below(50)) + random.uint32(),
    );
    const which = random.permutation(count + 10).subarray(0, count);
    const before = which.slice();
    const sorted = Array.from(await byAscendingId(PackedTexts.from(ids), which), (i) => ids[i]);
    expect(sorted).toEqual(Array.from(which, (i) => ids[i]).toSorted());
    expect(which).toEqual(before);
  });
});
