/** Input that kernels reject: ciphertexts out of range (errors of peers) and malformed requests (our bugs). */
import { beforeAll, describe, expect, it } from "vitest";

import { integerBytes, writeInteger } from "../integers.ts";
import { generateKey } from "./key-generation.ts";
import type { HistogramRequest } from "./kernel.ts";
import type { SeamedPublicEvaluator } from "./evaluator-seams.ts";
import type { PrivateKey } from "./keys.ts";
import { loadAddon } from "./native-addon.ts";
import { loadNativeKernel } from "./native-kernel.ts";
import { portableKernel } from "./portable-kernel.ts";
import { plaintextsFromBigints } from "./signed-plaintexts.ts";
import { CiphertextVector, PlaintextVector, type ResidentVector } from "./vectors.ts";

const { kernel: native, kernels: natives } = loadNativeKernel();
if (native === undefined) console.warn("native kernel not built: rejections are tested on the portable kernel only");
const kernels = [portableKernel, ...natives.values()];

let key: PrivateKey;
beforeAll(async () => {
  key = await generateKey({ bits: 130, insecure: true });
});

function ciphertexts(values: readonly bigint[]): CiphertextVector {
  const { ciphertextBytes } = key.publicKey;
  const bytes = new Uint8Array(values.length * ciphertextBytes);
  for (const [i, value] of values.entries()) writeInteger(bytes, ciphertextBytes, i, value);
  return new CiphertextVector(bytes, ciphertextBytes);
}

describe.each(kernels)("the $name kernel rejects", (kernel) => {
  let evaluator: SeamedPublicEvaluator;
  let four: ResidentVector;
  beforeAll(async () => {
    evaluator = kernel.publicEvaluator(key.publicKey, { threads: 2 });
    four = await evaluator.encrypt(plaintextsFromBigints(key.publicKey, [1n, 2n, 3n, 4n]));
  });

  it("ciphertexts outside 0 < c < n^2, naming the first", async () => {
    const { nSquared, ciphertextBytes } = key.publicKey;
    const allOnes = (1n << BigInt(8 * ciphertextBytes)) - 1n;
    for (const bad of [0n, nSquared, nSquared + 1n, allOnes]) {
      const filler = Array.from({ length: 200 }, () => 5n);
      const vector = ciphertexts([...filler, bad, ...filler, 0n]);
      await expect(evaluator.load(vector, evaluator.allocate(402), 0)).rejects.toMatchObject({
        code: "CIPHERTEXT_RANGE",
        message: expect.stringContaining("ciphertext 200 "),
      });
    }
    await evaluator.load(ciphertexts([1n, nSquared - 1n]), evaluator.allocate(3), 1);
  });

  describe("ciphertexts that share a factor with n, naming the first", () => {
    const load = (values: readonly bigint[]): Promise<void> =>
      evaluator.load(ciphertexts(values), evaluator.allocate(values.length + 3), 3);
    const expectRefused = (at: number, values: readonly bigint[]): Promise<void> =>
      expect(load(values)).rejects.toMatchObject({
        code: "CIPHERTEXT_RANGE",
        message: expect.stringMatching(new RegExp(`^ciphertext ${at} is not invertible`)),
      });
    const filler = (count: number): bigint[] => Array.from({ length: count }, (_, i) => BigInt(i + 2));

    it("for any common factor", async () => {
      const { n, nSquared } = key.publicKey;
      const { p, q } = key;
      for (const bad of [p, q, 5n * p, n, nSquared - n, nSquared - q, p * p, n + p]) {
        await expectRefused(0, [bad]);
        await expectRefused(9, [...filler(9), bad, 3n, p]);
        // An element out of range is reported first, wherever it is.
        await expect(load([bad, 2n, 0n])).rejects.toMatchObject({
          message: expect.stringMatching(/^ciphertext 2 is not between/),
        });
      }
    });

    it("at any index, also in batches that are split over threads", async () => {
      const many = filler(9000);
      await load(many);
      for (const at of [0, 4095, 4096, 8999]) await expectRefused(at, many.with(at, key.p).with(8999, key.q));
    });
  });

  it("no unencrypted plaintext by itself, but detects it", async () => {
    const { n } = key.publicKey;
    const find = async (values: readonly bigint[]): Promise<number> => {
      const vector = evaluator.allocate(values.length);
      await evaluator.load(ciphertexts(values), vector, 0);
      return evaluator.firstUnsealed(vector);
    };
    expect(await find([2n, n - 1n, n + 2n, 3n * n - 1n])).toBe(-1);
    for (const m of [0n, 1n, 77n, n - 1n]) expect(await find([2n, n + 2n, 1n + m * n, 1n])).toBe(2);
    expect(await evaluator.firstUnsealed(four)).toBe(-1);
  });

  it("to unload elements that were never loaded", async () => {
    const vector = evaluator.allocate(3);
    await evaluator.load(ciphertexts([2n, 3n]), vector, 0);
    await expect(evaluator.unload(vector)).rejects.toMatchObject({
      code: "CIPHERTEXT_RANGE",
      message: expect.stringContaining("ciphertext 2 "),
    });
  });

  it("plaintexts, scalars and bases from n on", async () => {
    const { n, plaintextBytes } = key.publicKey;
    const tooLarge = new PlaintextVector(integerBytes(n, plaintextBytes), plaintextBytes);
    const one = evaluator.allocate(1);
    await expect(evaluator.encrypt(tooLarge)).rejects.toMatchObject({ code: "INTERNAL" });
    await expect(evaluator.scale(one, tooLarge)).rejects.toMatchObject({ code: "INTERNAL" });
    await expect(evaluator.obfuscatorsFrom(tooLarge.bytes)).rejects.toMatchObject({ code: "INTERNAL" });
    await expect(evaluator.obfuscatorsFrom(new Uint8Array(plaintextBytes))).rejects.toMatchObject({ code: "INTERNAL" });
    const whole = { source: four, strideBits: 1, perCiphertext: 4 };
    for (const bases of [tooLarge.bytes, new Uint8Array(plaintextBytes), new Uint8Array(2 * plaintextBytes).fill(1)])
      await expect(evaluator.packFrom(whole, bases)).rejects.toThrow(Error);
    const owner = kernel.privateEvaluator(key, { threads: 1 });
    await expect(owner.encrypt(tooLarge)).rejects.toMatchObject({ code: "INTERNAL" });
    const exponents = { p: integerBytes(key.p - 1n, 9), q: integerBytes(0n, 9), sizeBytes: 9 };
    const zero = plaintextsFromBigints(key.publicKey, [0n]);
    await expect(owner.encryptWithExponents(zero, exponents)).rejects.toMatchObject({ code: "INTERNAL" });
  });

  it("histograms with indices or shapes out of range", async () => {
    const good: HistogramRequest = {
      gradients: four,
      ciphertextsPerInstance: 1,
      instances: Uint32Array.of(0, 3),
      bins: [Uint16Array.of(0, 1, 1, 0)],
      binCounts: Uint32Array.of(2),
      skippedBins: Int32Array.of(-1),
    };
    await evaluator.histogram(good);
    const wrong: Partial<HistogramRequest>[] = [
      { instances: Uint32Array.of(4) },
      { instances: Uint32Array.of(0, 4294967295) },
      { bins: [Uint16Array.of(2, 1, 1, 0)] },
      { bins: [Uint16Array.of(0, 1, 1)] },
      { bins: [] },
      { binCounts: Uint32Array.of(1), instances: Uint32Array.of(1) },
      { skippedBins: Int32Array.of(2) },
      { skippedBins: Int32Array.of(-2) },
      { ciphertextsPerInstance: 3 },
      { ciphertextsPerInstance: 0 },
    ];
    for (const part of wrong) {
      await expect(evaluator.histogram({ ...good, ...part })).rejects.toMatchObject({ code: "INTERNAL" });
    }
  });

  it("running sums and packings out of range", async () => {
    const good = {
      source: four,
      chainOffsets: Uint32Array.of(0, 2),
      sources: Uint32Array.of(0, 3),
      targets: Int32Array.of(0, 1),
      targetCount: 2,
    };
    await evaluator.runningSums(good);
    const wrong: Partial<typeof good>[] = [
      { sources: Uint32Array.of(0, 4) },
      { targets: Int32Array.of(0, 2) },
      { targets: Int32Array.of(0, 0) },
      { targets: Int32Array.of(0, -1) },
      { targets: Int32Array.of(-2, 1) },
      { chainOffsets: Uint32Array.of(0, 3) },
      { chainOffsets: Uint32Array.of(1, 2) },
      { chainOffsets: Uint32Array.of(0, 2, 1, 2) },
      { chainOffsets: new Uint32Array() },
    ];
    for (const part of wrong) await expect(evaluator.runningSums({ ...good, ...part })).rejects.toThrow(Error);
    for (const [strideBits, perCiphertext] of [
      [0, 1],
      [1, 0],
      [65, 3],
      [1.5, 2],
    ]) {
      await expect(evaluator.pack({ source: four, strideBits, perCiphertext })).rejects.toThrow(Error);
    }
  });

  it("vectors of different counts, and invalid numbers of threads", async () => {
    await expect(evaluator.add(four, evaluator.allocate(3))).rejects.toThrow(Error);
    expect(() => kernel.publicEvaluator(key.publicKey, { threads: 0 })).toThrow(Error);
  });
});

describe.skipIf(native === undefined)("the addon itself, below the checks in TypeScript", () => {
  it("throws on wrong arguments and never touches memory", async () => {
    const addon = loadAddon();
    const { n, plaintextBytes } = key.publicKey;
    const context = addon.createPublic("scalar", integerBytes(n, plaintextBytes));
    const element = new Uint8Array(48);
    expect(() => addon.createPublic("scalar", new Uint8Array(17))).toThrow(Error);
    expect(() => addon.createPublic("scalar", new Uint8Array(600).fill(255))).toThrow(Error);
    expect(() => addon.createPublic("gpu" as "scalar", integerBytes(n, plaintextBytes))).toThrow("no such kernel");
    expect(() => addon.multiply(context, element, new Uint8Array(96), element, 1)).toThrow("same count");
    expect(() => addon.multiply(context, element, element, new Uint8Array(56), 1)).toThrow("wrong size");
    expect(() => addon.multiply(context, element, element, new Uint8Array(49).subarray(1), 1)).toThrow("aligned");
    expect(() => addon.multiply(context, new Uint8Array(49), element, element, 1)).toThrow("whole elements");
    expect(() => addon.multiply(context, element, element, element, 0)).toThrow("out of range");
    expect(() => addon.multiply({} as typeof context, element, element, element, 1)).toThrow("context");
    expect(() => addon.load(context, new Uint8Array(33), 33, element, 1, 1)).toThrow("fit");
    expect(() => addon.unload(context, element, new Uint8Array(32), 33, 1)).toThrow("wrong size");
    const base = new Uint8Array(plaintextBytes);
    expect(() => addon.pack(context, element, 1, 0, base, plaintextBytes, element, 1)).toThrow("out of range");
    expect(() => addon.pack(context, element, 1, 1, base.subarray(1), plaintextBytes, element, 1)).toThrow(Error);
    expect(() => addon.pack(context, element, 1, 1, new Uint8Array(0), plaintextBytes, element, 1)).toThrow("a base");
    const sums = (sources: number[], targets: number[], offsets: number[]): unknown =>
      addon.runningSums(
        context,
        element,
        Uint32Array.from(offsets),
        Uint32Array.from(sources),
        Int32Array.from(targets),
        1,
        element,
        1,
      );
    expect(() => sums([1], [0], [0, 1])).toThrow("source is out of range");
    expect(() => sums([0], [1], [0, 1])).toThrow("target is out of range");
    expect(() => sums([0, 0], [0, 0], [0, 2])).toThrow("twice");
    expect(() => sums([0], [0], [0, 2])).toThrow("cover");
    const cells = (instances: number[], bins: Uint16Array[]): Promise<number> =>
      addon.histogram(
        context,
        element,
        1,
        Uint32Array.from(instances),
        bins,
        Uint32Array.of(1),
        Int32Array.of(-1),
        1,
        element,
        1,
      );
    expect(() => cells([0], [Uint16Array.of(0, 0)])).toThrow("every instance");
    await expect(cells([1], [Uint16Array.of(0)])).rejects.toThrow("instance index");
    await expect(cells([0], [Uint16Array.of(1)])).rejects.toThrow("bin is out of range");
    expect(
      addon.createPrivate.bind(
        addon,
        "scalar",
        element,
        element,
        element,
        element,
        element,
        element,
        element,
        element,
        element,
      ),
    ).toThrow(Error);
  });

  it("accepts unaligned input", async () => {
    const addon = loadAddon();
    const context = addon.createPublic("scalar", integerBytes(key.publicKey.n, key.publicKey.plaintextBytes));
    const aligned = new Uint8Array(48).fill(7, 0, 16).fill(7, 24, 40);
    const unaligned = new Uint8Array(51).subarray(3);
    unaligned.set(aligned);
    const [a, b] = [new Uint8Array(48), new Uint8Array(48)];
    await addon.multiply(context, aligned, aligned, a, 1);
    await addon.multiply(context, unaligned, unaligned, b, 1);
    expect(b).toEqual(a);
  });
});
