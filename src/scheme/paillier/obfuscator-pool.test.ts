import { beforeAll, describe, expect, test } from "vitest";
import { integerBytes } from "../../crypto/integers.ts";
import { generateKey } from "../../crypto/paillier/key-generation.ts";
import type { SeamedPublicEvaluator } from "../../crypto/paillier/evaluator-seams.ts";
import { portableKernel } from "../../crypto/paillier/portable-kernel.ts";
import { type ObfuscatorVector, PlaintextVector } from "../../crypto/paillier/vectors.ts";
import { ObfuscatorPool } from "./obfuscator-pool.ts";

let evaluator: SeamedPublicEvaluator;
beforeAll(async () => {
  const key = await generateKey({ bits: 128, insecure: true });
  evaluator = portableKernel.publicEvaluator(key.publicKey, { threads: 1 });
});

/** Makes obfuscators from the bases 1, 2, 3 and so on, and counts the calls. */
function maker() {
  const calls: number[] = [];
  let next = 1;
  const make = async (count: number): Promise<ObfuscatorVector> => {
    calls.push(count);
    const { plaintextBytes } = evaluator.key;
    const bases = Array.from({ length: count }, () => integerBytes(BigInt(next++), plaintextBytes));
    await new Promise((resolve) => setImmediate(resolve));
    return evaluator.obfuscatorsFrom(Buffer.concat(bases));
  };
  return { calls, make };
}

/** One text per obfuscator: the encryption of zero. */
async function texts(obfuscators: ObfuscatorVector): Promise<string[]> {
  const zeros = new PlaintextVector(new Uint8Array(obfuscators.count), 1);
  const { bytes, sizeBytes, count } = await evaluator.unload(await evaluator.sealWith(zeros, obfuscators));
  return Array.from({ length: count }, (_, i) =>
    Buffer.from(bytes.subarray(i * sizeBytes, (i + 1) * sizeBytes)).toString("hex"),
  );
}

const settle = async (): Promise<void> => {
  for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve));
};

describe("obfuscator pool", () => {
  test("hands out each obfuscator once, from stock, on demand and mixed", async () => {
    const { make } = maker();
    const pool = new ObfuscatorPool(evaluator, make, 4, async () => {});
    const taken: string[] = [];
    taken.push(...(await texts(await pool.take(3))));
    pool.prepare(10);
    await settle();
    taken.push(...(await texts(await pool.take(6))), ...(await texts(await pool.take(7))));
    pool.prepare(5);
    taken.push(...(await texts(await pool.take(8))));
    await settle();
    taken.push(...(await texts(await pool.take(2))));
    expect(new Set(taken).size).toBe(taken.length);
    expect(taken.length).toBe(26);
  });

  test("prepares in batches, no more than requested, and again after it has finished", async () => {
    const { calls, make } = maker();
    const pool = new ObfuscatorPool(evaluator, make, 4, async () => {});
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

  test("precomputes nothing while no core is idle, and computes everything on demand", async () => {
    const { calls, make } = maker();
    let free: () => void = () => {};
    const pool = new ObfuscatorPool(evaluator, make, 4, () => new Promise((resolve) => (free = resolve)));
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
    const pool = new ObfuscatorPool(evaluator, make, 1, async () => {});
    pool.prepare(1000);
    await pool.pause();
    await settle();
    expect(calls.length).toBeLessThan(5);
  });

  test("a failure in the background is thrown by the next take", async () => {
    const pool = new ObfuscatorPool(
      evaluator,
      () => Promise.reject(new Error("no more")),
      2,
      async () => {},
    );
    pool.prepare(2);
    await settle();
    await expect(pool.take(1)).rejects.toThrow("no more");
  });
});
