import { describe, expect, test } from "vitest";
import { hashToCurve } from "./hash-to-curve.ts";
import { MaskingPool } from "./masking-pool.ts";

function somePoints(count: number): Uint8Array {
  const points = new Uint8Array(32 * count);
  for (let i = 0; i < count; i++) hashToCurve(`point ${i}`, points, 32 * i);
  return points;
}

describe("MaskingPool", () => {
  test.each([0, 1, 2])("two secrets commute, on %i threads and in this thread", async (threads) => {
    const [a, b] = [new MaskingPool(threads, 0), new MaskingPool(0)];
    const points = somePoints(70);
    const chunks = Array.from({ length: 7 }, (_, i) => points.subarray(320 * i, 320 * (i + 1)));
    const masked = async (pool: MaskingPool, input: Uint8Array[]): Promise<Uint8Array[]> =>
      Promise.all(input.map((chunk) => pool.mask(chunk)));
    const ab = await masked(b, await masked(a, chunks));
    const ba = await masked(a, await masked(b, chunks));
    expect(Buffer.concat(ab).equals(Buffer.concat(ba))).toBe(true);
    expect(Buffer.from(points).equals(Buffer.from(somePoints(70))), "the input is left alone").toBe(true);
    expect(new Set([...ab, ...(await masked(a, chunks))].map((chunk) => Buffer.from(chunk).toString("hex"))).size).toBe(
      14,
    );
    a.close();
    b.close();
  });

  test("points of small order come back as zero, other points do not", async () => {
    const pool = new MaskingPool(1, 0);
    const points = somePoints(3);
    points.fill(0, 32, 64);
    const masked = await pool.mask(points);
    expect(masked.subarray(32, 64).every((byte) => byte === 0)).toBe(true);
    expect(masked.subarray(0, 32).some((byte) => byte !== 0) && masked.subarray(64).some((byte) => byte !== 0)).toBe(
      true,
    );
    pool.close();
  });

  test.each([0, 2])("closing fails the work under way and all later work (%i threads)", async (threads) => {
    const pool = new MaskingPool(threads, 0);
    const underWay = Array.from({ length: 5 }, () => pool.mask(somePoints(400)));
    pool.close();
    for (const outcome of await Promise.allSettled(underWay))
      expect(outcome).toMatchObject({ status: "rejected", reason: { code: "PROTOCOL_STATE" } });
    await expect(pool.mask(somePoints(1))).rejects.toMatchObject({ code: "PROTOCOL_STATE" });
  });

  test("threads start after the first points, and under the same secret", async () => {
    const pool = new MaskingPool(1, 10);
    const points = somePoints(20);
    const [here, there] = [await pool.mask(points), await pool.mask(points)];
    expect(Buffer.from(there).equals(here)).toBe(true);
    pool.close();
  });

  test("yields to the event loop, also without threads and with several at work", async () => {
    const pools = [new MaskingPool(0), new MaskingPool(0), new MaskingPool(0)];
    let turns = 0;
    const countTurns = (): void => {
      turns++;
      counting = setImmediate(countTurns);
    };
    let counting = setImmediate(countTurns);
    await Promise.all(pools.map((pool) => pool.mask(somePoints(600))));
    clearImmediate(counting);
    // 1800 points are about 100 ms in all: in one go, or each pool in one go, would be under 5 turns.
    expect(turns).toBeGreaterThan(8);
  });
});
