import { describe, expect, test } from "vitest";
import { ObfuscatorVector } from "../../crypto/paillier/vectors.ts";
import { ObfuscatorPool } from "./obfuscator-pool.ts";

/** Makes numbered one-byte "obfuscators" and counts the calls. */
function maker() {
  const calls: number[] = [];
  let next = 0;
  const make = async (count: number): Promise<ObfuscatorVector> => {
    calls.push(count);
    const bytes = Uint8Array.from({ length: count }, () => next++);
    await new Promise((resolve) => setImmediate(resolve));
    return new ObfuscatorVector(bytes, 1);
  };
  return { calls, make };
}

const settle = async (): Promise<void> => {
  for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve));
};

describe("obfuscator pool", () => {
  test("hands out each obfuscator once, from stock, on demand and mixed", async () => {
    const { make } = maker();
    const pool = new ObfuscatorPool(make, 4, async () => {});
    const taken: number[] = [];
    taken.push(...(await pool.take(3)).bytes);
    pool.prepare(10);
    await settle();
    taken.push(...(await pool.take(6)).bytes, ...(await pool.take(7)).bytes);
    pool.prepare(5);
    taken.push(...(await pool.take(8)).bytes);
    await settle();
    taken.push(...(await pool.take(2)).bytes);
    expect(new Set(taken).size).toBe(taken.length);
    expect(taken.length).toBe(26);
  });

  test("prepares in batches, no more than asked for, and again after it has ended", async () => {
    const { calls, make } = maker();
    const pool = new ObfuscatorPool(make, 4, async () => {});
    pool.prepare(10);
    await settle();
    expect(calls).toEqual([4, 4, 2]);
    await pool.take(10);
    expect(calls).toHaveLength(3);
    pool.prepare(3);
    await settle();
    expect(calls).toEqual([4, 4, 2, 3]);
    pool.prepare(3);
    await settle();
    expect(calls).toHaveLength(4);
  });

  test("makes nothing ahead while no core is idle, and everything on demand", async () => {
    const { calls, make } = maker();
    let free: () => void = () => {};
    const pool = new ObfuscatorPool(make, 4, () => new Promise((resolve) => (free = resolve)));
    pool.prepare(4);
    await settle();
    expect(calls).toEqual([]);
    expect((await pool.take(2)).count).toBe(2);
    free();
    await settle();
    expect(calls).toEqual([2, 2]);
  });

  test("can be paused in the middle", async () => {
    const { calls, make } = maker();
    const pool = new ObfuscatorPool(make, 1, async () => {});
    pool.prepare(1000);
    pool.pause();
    await settle();
    expect(calls.length).toBeLessThan(5);
  });

  test("a failure in the background is thrown at whoever takes next", async () => {
    const pool = new ObfuscatorPool(
      () => Promise.reject(new Error("no more")),
      2,
      async () => {},
    );
    pool.prepare(2);
    await settle();
    await expect(pool.take(1)).rejects.toThrow("no more");
  });
});
