/** Operations on the vectors that an evaluator holds, and the calls it rejects, on every kernel. */
import { beforeAll, describe, expect, it } from "vitest";

import { integerBytes, readInteger } from "../integers.ts";
import type { SeamedPublicEvaluator } from "./evaluator-seams.ts";
import { generateKey } from "./key-generation.ts";
import { type PrivateKey } from "./keys.ts";
import { loadNativeKernel } from "./native-kernel.ts";
import { portableKernel } from "./portable-kernel.ts";
import { plaintextsFromBigints } from "./signed-plaintexts.ts";
import { CiphertextVector, ObfuscatorVector, ResidentVector } from "./vectors.ts";

const natives = loadNativeKernel().kernels;
if (natives.size === 0) console.warn("native kernel not built: held vectors are tested on the portable kernel only");
const kernels = [portableKernel, ...natives.values()];
const keyBits = 130;

let key: PrivateKey;
let otherKey: PrivateKey;
beforeAll(async () => {
  key = await generateKey({ bits: keyBits, insecure: true });
  otherKey = await generateKey({ bits: keyBits, insecure: true });
});

function ciphertexts(...values: readonly number[]): CiphertextVector {
  const { ciphertextBytes } = key.publicKey;
  return new CiphertextVector(
    Buffer.concat(values.map((value) => integerBytes(BigInt(value), ciphertextBytes))),
    ciphertextBytes,
  );
}

/** Every operation that takes a vector of four elements, by name. */
function operationsOn(
  evaluator: SeamedPublicEvaluator,
  own: { readonly residents: ResidentVector; readonly obfuscators: ObfuscatorVector },
  residents: ResidentVector,
  obfuscators: ObfuscatorVector,
): Record<string, () => unknown> {
  const plaintexts = plaintextsFromBigints(key.publicKey, [1n, 2n, 3n, 4n]);
  return {
    load: () => evaluator.load(ciphertexts(5), residents, 0),
    unload: () => evaluator.unload(residents),
    clear: () => evaluator.clear(residents, Uint32Array.of(0)),
    slice: () => evaluator.slice(residents, 0, 1),
    "slice of obfuscators": () => evaluator.slice(obfuscators, 0, 1),
    join: () => evaluator.join([own.residents, residents]),
    "join of obfuscators": () => evaluator.join([own.obfuscators, obfuscators]),
    "add, left": () => evaluator.add(residents, own.residents),
    "add, right": () => evaluator.add(own.residents, residents),
    scale: () => evaluator.scale(residents, plaintexts),
    histogram: () =>
      evaluator.histogram({
        gradients: residents,
        ciphertextsPerInstance: 1,
        instances: Uint32Array.of(0),
        bins: [new Uint16Array(4)],
        binCounts: Uint32Array.of(1),
        skippedBins: Int32Array.of(-1),
      }),
    runningSums: () =>
      evaluator.runningSums({
        source: residents,
        chainOffsets: Uint32Array.of(0, 1),
        sources: Uint32Array.of(0),
        targets: Int32Array.of(0),
        targetCount: 1,
      }),
    pack: () => evaluator.pack({ source: residents, strideBits: 8, perCiphertext: 2 }),
    sealWith: () => evaluator.sealWith(plaintexts, obfuscators),
    addPlaintexts: () => evaluator.addPlaintexts(residents, plaintexts),
    free: () => evaluator.free(residents),
    "free of obfuscators": () => evaluator.free(obfuscators),
  };
}

async function expectRefusals(operations: Record<string, () => unknown>, message: string): Promise<void> {
  for (const [name, operation] of Object.entries(operations)) {
    const outcome = await Promise.resolve()
      .then(operation)
      .then(
        () => "taken",
        (error: { code: string; message: string }) => `${error.code} ${error.message}`,
      );
    expect(`${name}: ${outcome}`).toBe(`${name}: INTERNAL assertion failed: ${message}`);
  }
}

describe.each(kernels)("vectors on the $name kernel", (kernel) => {
  let evaluator: SeamedPublicEvaluator;
  beforeAll(() => {
    evaluator = kernel.publicEvaluator(key.publicKey, { threads: 2 });
  });

  const loaded = async (...values: readonly number[]): Promise<ResidentVector> => {
    const vector = evaluator.allocate(values.length);
    await evaluator.load(ciphertexts(...values), vector, 0);
    return vector;
  };
  const unloaded = async (vector: ResidentVector): Promise<number[]> => {
    const { bytes, sizeBytes, count } = await evaluator.unload(vector);
    return Array.from({ length: count }, (_, i) => Number(readInteger(bytes, sizeBytes, i)));
  };
  const pairOf = async (maker: SeamedPublicEvaluator) => ({
    residents: await maker.encrypt(plaintextsFromBigints(maker.key, [1n, 2n, 3n, 4n])),
    obfuscators: await maker.obfuscators(4),
  });

  const fields = (vector: object): [string, unknown][] => Object.entries(vector).sort(([a], [b]) => (a < b ? -1 : 1));

  it("expose a count and a kind only", async () => {
    expect(fields(evaluator.allocate(3))).toEqual([
      ["count", 3],
      ["kind", "resident"],
    ]);
    expect(fields(await evaluator.obfuscators(2))).toEqual([
      ["count", 2],
      ["kind", "obfuscator"],
    ]);
  });

  it("are sliced as views", async () => {
    const vector = await loaded(2, 3, 5, 7, 11);
    const middle = evaluator.slice(vector, 1, 3);
    expect(middle.count).toBe(3);
    expect(await unloaded(middle)).toEqual([3, 5, 7]);
    expect(await unloaded(evaluator.slice(middle, 2, 1))).toEqual([7]);
    expect(await unloaded(await evaluator.add(middle, middle))).toEqual([9, 25, 49]);
    await evaluator.load(ciphertexts(13), middle, 1);
    expect(await unloaded(vector)).toEqual([2, 3, 13, 7, 11]);
    await evaluator.load(ciphertexts(17), vector, 3);
    expect(await unloaded(middle)).toEqual([3, 13, 17]);
  });

  it("are not sliced beyond their ends, nor to an empty slice", async () => {
    const vector = await loaded(2, 3, 5);
    for (const [first, count] of [
      [0, 4],
      [3, 1],
      [-1, 2],
      [1, 0],
      [0.5, 1],
      [0, 1.5],
    ]) {
      expect(() => evaluator.slice(vector, first, count)).toThrow("a slice is not empty and lies inside its vector");
    }
  });

  it("are joined as copies, one of them several times", async () => {
    const [a, b] = [await loaded(2, 3), await loaded(5)];
    const all = evaluator.join([a, b, evaluator.slice(a, 1, 1), b]);
    expect(await unloaded(all)).toEqual([2, 3, 5, 3, 5]);
    await evaluator.load(ciphertexts(7), b, 0);
    expect(await unloaded(all)).toEqual([2, 3, 5, 3, 5]);
    expect(() => evaluator.join([])).toThrow("something to join");
  });

  it("are cleared to ones at given elements", async () => {
    const vector = await loaded(2, 3, 5, 7);
    await evaluator.clear(vector, Uint32Array.of(3, 1));
    expect(await unloaded(vector)).toEqual([2, 1, 5, 1]);
    await evaluator.clear(vector, new Uint32Array());
    expect(await unloaded(vector)).toEqual([2, 1, 5, 1]);
    await expect(evaluator.clear(vector, Uint32Array.of(4))).rejects.toThrow("a cleared element exists");
  });

  it("of obfuscators are sliced and joined alike, and made from encryptions of zero", async () => {
    const obfuscators = await evaluator.loadObfuscators(ciphertexts(2, 3, 5));
    const some = evaluator.join([evaluator.slice(obfuscators, 2, 1), evaluator.slice(obfuscators, 0, 2)]);
    expect(some).toBeInstanceOf(ObfuscatorVector);
    const zeros = plaintextsFromBigints(key.publicKey, [0n, 0n, 0n]);
    expect(await unloaded(await evaluator.sealWith(zeros, some))).toEqual([5, 2, 3]);
    await expect(evaluator.loadObfuscators(ciphertexts(2, 0))).rejects.toMatchObject({ code: "CIPHERTEXT_RANGE" });
  });

  it("are not used after they were freed; their views and pending operations are", async () => {
    const own = await pairOf(evaluator);
    const vector = await loaded(2, 3, 5, 7);
    const view = evaluator.slice(vector, 1, 2);
    const underWay = evaluator.add(vector, vector);
    evaluator.free(vector);
    expect(await unloaded(await underWay)).toEqual([4, 9, 25, 49]);
    expect(await unloaded(view)).toEqual([3, 5]);
    const obfuscators = await evaluator.obfuscators(4);
    evaluator.free(obfuscators);
    await expectRefusals(operationsOn(evaluator, own, vector, obfuscators), "a vector is not used after it was freed");
  });

  it("are accepted by another evaluator of the same key and kernel", async () => {
    const other = kernel.publicEvaluator(key.publicKey, { threads: 1 });
    expect(await unloaded(await other.add(await loaded(2, 3), await loaded(5, 7)))).toEqual([10, 21]);
  });

  it("are rejected with another key, of the same size too", async () => {
    const own = await pairOf(evaluator);
    for (const other of [otherKey, await generateKey({ bits: 256, insecure: true })]) {
      const foreign = await pairOf(kernel.publicEvaluator(other.publicKey, { threads: 1 }));
      await expectRefusals(
        operationsOn(evaluator, own, foreign.residents, foreign.obfuscators),
        "a vector is used with the key that it was made for",
      );
    }
  });

  it("are rejected by another kernel", async () => {
    const own = await pairOf(evaluator);
    for (const other of kernels) {
      if (other.name === kernel.name) continue;
      const foreign = await pairOf(other.publicEvaluator(key.publicKey, { threads: 1 }));
      await expectRefusals(
        operationsOn(evaluator, own, foreign.residents, foreign.obfuscators),
        "a vector is used by the kernel that made it",
      );
    }
  });

  it("are rejected if no evaluator of this process made them", async () => {
    const own = await pairOf(evaluator);
    await expectRefusals(
      operationsOn(evaluator, own, new ResidentVector(4), new ObfuscatorVector(4)),
      "a vector was made by an evaluator of this process",
    );
  });
});
