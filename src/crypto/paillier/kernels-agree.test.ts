/**
 * Differential tests: every operation of every native kernel gives the same bytes as the portable oracle, on any number
 * of threads.
 */
import { beforeAll, describe, expect, it } from "vitest";

import { isCampaign } from "../../../test/support/campaign.ts";
import { osRandom, SeededRandom } from "../../base/random.ts";
import type { SeamedPrivateEvaluator, SeamedPublicEvaluator } from "./evaluator-seams.ts";
import { modulo, power, readInteger, writeInteger } from "../integers.ts";
import { generateKey } from "./key-generation.ts";
import type { PrivateKey, PublicKey } from "./keys.ts";
import { loadNativeKernel } from "./native-kernel.ts";
import {
  drawObfuscatorBases,
  drawOwnerExponents,
  exponentBytes,
  type OwnerExponents,
  shortExponentBits,
  uniformBelow,
} from "./nonces.ts";
import { ownerConstants, residueBase } from "./owner-constants.ts";
import { portableKernel, type SeamedKernel } from "./portable-kernel.ts";
import { CiphertextVector, PlaintextVector, type ResidentVector } from "./vectors.ts";

const { kernels } = loadNativeKernel();
if (kernels.size === 0)
  console.warn("native kernel not built: differential tests are skipped (node scripts/build-native.mjs)");

interface Contender {
  readonly kernel: SeamedKernel;
  readonly threads: number;
}

/** Every kernel that this processor runs, with the numbers of threads to test. */
const contenders: Contender[] = [];
const bestOfLanes = kernels.has("ifma") ? "ifma" : "avx2";
for (const [name, kernel] of kernels) {
  for (const threads of name === bestOfLanes ? [1, 2, 3] : [2]) contenders.push({ kernel, threads });
}
const emulated = kernels.get("ifma-emulated");

/**
 * The distribution of work over threads does not depend on the key. The tables of long keys take long to build, so
 * those are tested with one number of threads. Emulated IFMA is slow: short keys suffice, and 2048 bits where the
 * processor does not run the same code itself.
 */
function contendersFor(bits: number): readonly Contender[] {
  const isTried = ({ kernel, threads }: Contender): boolean =>
    (bits <= 1024 || threads === 2) &&
    (bits <= 256 || (bits === 2048 && bestOfLanes !== "ifma") || kernel !== emulated);
  return contenders.filter(isTried);
}

/** 130, 190 and 1000 bits: primes and moduli that do not fill their limbs. */
const keySizes = [128, 130, 190, 192, 256, 320, 512, 1000, 2048, ...(isCampaign ? [1024, 3072, 4096] : [])];

function flat(values: readonly bigint[], sizeBytes: number): Uint8Array {
  const bytes = new Uint8Array(values.length * sizeBytes);
  for (const [i, value] of values.entries()) writeInteger(bytes, sizeBytes, i, value);
  return bytes;
}

/** Edge values first; long keys get fewer, because the oracle is slow. */
function operands(key: PublicKey): bigint[] {
  const { n, nSquared, bits } = key;
  const edges = [1n, n - 1n, n + 1n, nSquared - 1n, nSquared - 2n, nSquared - n - 1n, 2n, 3n];
  const random = Array.from({ length: bits > 1024 ? 2 : 8 }, () => 1n + uniformBelow(osRandom, nSquared - 1n));
  return bits > 2048 ? [...edges.slice(0, 4), ...random] : [...edges, ...random];
}

/** Key-owner encryption by the formulas of owner-constants.ts. */
function encryptByPowers(key: PrivateKey, plaintexts: PlaintextVector, exponents: OwnerExponents): CiphertextVector {
  const { p, q, qSquaredInverse } = ownerConstants(key);
  const { n, nSquared, ciphertextBytes } = key.publicKey;
  const values = Array.from({ length: plaintexts.count }, (_, i) => {
    const modP = power(residueBase(p), readInteger(exponents.p, exponents.sizeBytes, i), p.square);
    const modQ = power(residueBase(q), readInteger(exponents.q, exponents.sizeBytes, i), q.square);
    const obfuscator = modQ + q.square * modulo((modP - modQ) * qSquaredInverse, p.square);
    return (obfuscator * (1n + readInteger(plaintexts.bytes, plaintexts.sizeBytes, i) * n)) % nSquared;
  });
  return new CiphertextVector(flat(values, ciphertextBytes), ciphertextBytes);
}

describe.skipIf(kernels.size === 0)("native equals portable on batches that need many hand-outs", () => {
  it("for every element-wise operation, histogram and packing", async () => {
    const key = await generateKey({ bits: 192, insecure: true });
    const count = 1300;
    const { p: bytes, sizeBytes } = await drawOwnerExponents(key, count, "full"); // any random bytes, far below n
    const plaintexts = new PlaintextVector(bytes, sizeBytes);
    const ciphertexts = await portableKernel.privateEvaluator(key, { threads: 1 }).encrypt(plaintexts);
    const random = new SeededRandom("batches");
    const bins = Array.from({ length: 5 }, () => Uint16Array.from({ length: count }, () => random.below(6)));
    bins[3].fill(4); // all instances in one bin, and equal features
    bins[4].set(bins[0]);
    const packBases = await drawObfuscatorBases(key.publicKey, Math.ceil(count / 3));
    const run = async (evaluator: SeamedPublicEvaluator): Promise<Uint8Array[]> => {
      const a = evaluator.allocate(count);
      await evaluator.load(ciphertexts, a, 0);
      const results = [a, await evaluator.add(a, await evaluator.add(a, a))];
      for (const [jointBins, skipped, ciphertextsPerInstance] of [
        [true, -1, 1],
        [false, -1, 1],
        [true, 2, 1],
        [true, 4, 2],
      ] as const) {
        results.push(
          await evaluator.histogram({
            gradients: a,
            ciphertextsPerInstance,
            instances: new SeededRandom(1).permutation(count / ciphertextsPerInstance),
            bins: bins.map((column) => column.slice(0, count / ciphertextsPerInstance)),
            binCounts: Uint32Array.of(6, 7, 6, 5, 6),
            skippedBins: Int32Array.of(skipped, 2, skipped, skipped, 5),
            jointBins,
          }),
        );
      }
      results.push(await evaluator.packFrom({ source: a, strideBits: 7, perCiphertext: 3 }, packBases));
      results.push(await evaluator.scale(a, new PlaintextVector(bytes.subarray(0, count), 1)));
      return Promise.all(results.map(async (result) => (await evaluator.unload(result)).bytes));
    };
    const expected = await run(portableKernel.publicEvaluator(key.publicKey, { threads: 1 }));
    for (const { kernel, threads } of [...contenders, { kernel: contenders[0].kernel, threads: 8 }]) {
      const actual = await run(kernel.publicEvaluator(key.publicKey, { threads }));
      for (const [i, result] of actual.entries()) expect(Buffer.compare(result, expected[i])).toBe(0);
    }
  });
});

describe.skipIf(kernels.size === 0)(
  "native equals portable after the encryptions that make it build wider tables",
  () => {
    it.each(["full", "short"] as const)("with %s exponents", async (length) => {
      const key = await generateKey({ bits: 192, insecure: true });
      const exponents = await drawOwnerExponents(key, 50, length);
      const plaintexts = new PlaintextVector(new Uint8Array(50).fill(9), 1);
      const expected = await portableKernel
        .privateEvaluator(key, { threads: 1 })
        .encryptWithExponents(plaintexts, exponents);
      for (const { kernel, threads } of contenders) {
        const owner = kernel.privateEvaluator(key, { threads });
        for (const count of [1, 16_384]) {
          await owner.encrypt(new PlaintextVector(new Uint8Array(count), 1));
          expect(Buffer.compare((await owner.encryptWithExponents(plaintexts, exponents)).bytes, expected.bytes)).toBe(
            0,
          );
        }
      }
    });
  },
);

describe.skipIf(kernels.size === 0).each(keySizes)("native equals portable with a key of %i bits", (bits) => {
  let key: PrivateKey;
  let portable: SeamedPublicEvaluator;
  let natives: SeamedPublicEvaluator[];
  let values: bigint[];

  beforeAll(async () => {
    key = await generateKey({ bits, insecure: true });
    portable = portableKernel.publicEvaluator(key.publicKey, { threads: 1 });
    natives = contendersFor(bits).map(({ kernel, threads }) => kernel.publicEvaluator(key.publicKey, { threads }));
    values = operands(key.publicKey);
  });

  /** Runs one operation on all evaluators over the same ciphertexts and compares canonical bytes. */
  async function expectAgreement(
    operation: (evaluator: SeamedPublicEvaluator, a: ResidentVector, b: ResidentVector) => Promise<ResidentVector>,
    limit = values.length,
  ): Promise<void> {
    const results: Uint8Array[] = [];
    for (const evaluator of [portable, ...natives]) {
      const { ciphertextBytes } = key.publicKey;
      const a = evaluator.allocate(limit);
      await evaluator.load(new CiphertextVector(flat(values.slice(0, limit), ciphertextBytes), ciphertextBytes), a, 0);
      const b = evaluator.allocate(limit);
      const rotated = values.slice(0, limit).map((_, i) => values[(i * 5 + 3) % values.length]);
      await evaluator.load(new CiphertextVector(flat(rotated, ciphertextBytes), ciphertextBytes), b, 0);
      results.push((await evaluator.unload(await operation(evaluator, a, b))).bytes);
    }
    for (const result of results.slice(1)) expect(Buffer.compare(result, results[0])).toBe(0);
  }

  it("load and unload", () => expectAgreement(async (_, a) => a));
  it("add", () => expectAgreement((evaluator, a, b) => evaluator.add(a, b)));
  it("add of a vector to itself", () => expectAgreement((evaluator, a) => evaluator.add(a, a)));

  it("scale", async () => {
    const { n, plaintextBytes } = key.publicKey;
    const scalars = [0n, 1n, 2n, 65537n, n - 1n, uniformBelow(osRandom, n), 1n << 40n].slice(0, bits > 1024 ? 5 : 7);
    const vector = new PlaintextVector(flat(scalars, plaintextBytes), plaintextBytes);
    await expectAgreement((evaluator, a) => evaluator.scale(a, vector), scalars.length);
    const narrow = new PlaintextVector(flat([255n, 0n, 77n], 1), 1);
    await expectAgreement((evaluator, a) => evaluator.scale(a, narrow), 3);
  });

  it.each([1, 2])("histogram with %i ciphertexts per instance", async (ciphertextsPerInstance) => {
    const random = new SeededRandom(`histogram ${bits}`);
    const instanceCount = Math.floor(values.length / ciphertextsPerInstance);
    const binCounts = Uint32Array.of(3, 1, 5, 2, 4, 3, 7);
    for (const featureCount of [0, 1, 2, 7]) {
      const bins = Array.from({ length: featureCount }, (_, f) =>
        Uint16Array.from({ length: instanceCount }, () => random.below(binCounts[f])),
      );
      const instances = random.permutation(instanceCount).slice(0, instanceCount - 1);
      await expectAgreement(
        (evaluator, gradients) =>
          evaluator.histogram({
            gradients,
            ciphertextsPerInstance,
            instances,
            bins,
            binCounts: binCounts.slice(0, featureCount),
            skippedBins: Int32Array.of(-1, 0, 2, 1, -1, -1, 6).slice(0, featureCount),
          }),
        instanceCount * ciphertextsPerInstance,
      );
    }
  });

  it("running sums", () =>
    expectAgreement((evaluator, source) =>
      evaluator.runningSums({
        source,
        chainOffsets: Uint32Array.of(0, 3, 3, 4, 8, 9, 10),
        sources: Uint32Array.of(0, 1, 2, 3, 3, 2, 1, 0, 4, 5),
        targets: Int32Array.of(5, -1, 0, 2, -1, 1, 3, 4, -1, 6),
        targetCount: 7,
      }),
    ));

  it.each([
    [23, 1],
    [23, 2],
    [23, 5],
    [1, 40],
  ])("pack with a stride of %i, by %i", async (strideBits, perCiphertext) => {
    const bases = await drawObfuscatorBases(key.publicKey, Math.ceil(values.length / perCiphertext));
    await expectAgreement((evaluator, source) => evaluator.packFrom({ source, strideBits, perCiphertext }, bases));
  });

  it("obfuscators and public encryption", async () => {
    const { n, plaintextBytes } = key.publicKey;
    const bases = flat([1n, n - 1n, 2n], plaintextBytes);
    bases.set(await drawObfuscatorBases(key.publicKey, 1), 2 * plaintextBytes);
    const plaintexts = new PlaintextVector(
      flat([0n, n - 1n, uniformBelow(osRandom, n)], plaintextBytes),
      plaintextBytes,
    );
    await expectAgreement(async (evaluator, a) => {
      const obfuscators = await evaluator.obfuscatorsFrom(bases);
      const sealed = await evaluator.sealWith(plaintexts, obfuscators);
      return evaluator.add(sealed, a);
    }, 3);
  });

  describe("key owner", () => {
    let owners: SeamedPrivateEvaluator[];
    beforeAll(() => {
      owners = contendersFor(bits).map(({ kernel, threads }) => kernel.privateEvaluator(key, { threads }));
      owners.unshift(portableKernel.privateEvaluator(key, { threads: 1 }));
    });

    /**
     * All owners give the same bytes; above 1024 bits plain powers stand in for the portable owner, whose tables take
     * long.
     */
    async function encryptByAll(plaintexts: PlaintextVector, exponents: OwnerExponents): Promise<CiphertextVector[]> {
      const contestants = bits > 1024 ? owners.slice(1) : owners;
      const results = await Promise.all(contestants.map((owner) => owner.encryptWithExponents(plaintexts, exponents)));
      if (bits > 1024) results.unshift(encryptByPowers(key, plaintexts, exponents));
      for (const result of results.slice(1)) expect(Buffer.compare(result.bytes, results[0].bytes)).toBe(0);
      return results;
    }

    it("encryption with given exponents", async () => {
      const { n, plaintextBytes } = key.publicKey;
      const plaintexts = [0n, 1n, n - 1n, n - 2n, uniformBelow(osRandom, n), uniformBelow(osRandom, n)];
      const exponents = await drawOwnerExponents(key, plaintexts.length, "full");
      const { sizeBytes } = exponents;
      for (const [i, [e, f]] of [
        [0n, 0n],
        [1n, 0n],
        [key.p - 2n, key.q - 2n],
        [0n, 255n],
      ].entries()) {
        writeInteger(exponents.p, sizeBytes, i, e);
        writeInteger(exponents.q, sizeBytes, i, f);
      }
      const vector = new PlaintextVector(flat(plaintexts, plaintextBytes), plaintextBytes);
      const results = await encryptByAll(vector, exponents);
      const decrypted = await owners[1].decrypt(results[0]);
      expect(Buffer.compare(decrypted.bytes, vector.bytes)).toBe(0);
    });

    it("encryption with short exponents", async () => {
      const { n, plaintextBytes } = key.publicKey;
      const vector = new PlaintextVector(flat([7n, n - 1n, 0n], plaintextBytes), plaintextBytes);
      const exponents = await drawOwnerExponents(key, 3, "short");
      expect(8 * exponents.sizeBytes).toBe(Math.min(shortExponentBits(key), 8 * exponentBytes(key)));
      await encryptByAll(vector, exponents);
    });

    it("decryption of any unit", async () => {
      const { ciphertextBytes } = key.publicKey;
      const vector = new CiphertextVector(flat(values, ciphertextBytes), ciphertextBytes);
      const results = await Promise.all(owners.map((owner) => owner.decrypt(vector)));
      for (const result of results.slice(1)) expect(Buffer.compare(result.bytes, results[0].bytes)).toBe(0);
    });

    it.skipIf(bits > 1024)("refuses multiples of a prime and values out of range, by index", async () => {
      const { n, nSquared, ciphertextBytes } = key.publicKey;
      for (const [bad, reason] of [
        [n, "not invertible"],
        [key.p * 5n, "not invertible"],
        [key.q, "not invertible"],
        [0n, "not between"],
        [nSquared, "not between"],
      ] as const) {
        const vector = new CiphertextVector(flat([2n, 3n, bad, 0n], ciphertextBytes), ciphertextBytes);
        for (const owner of owners) {
          await expect(owner.decrypt(vector)).rejects.toMatchObject({
            code: "CIPHERTEXT_RANGE",
            message: expect.stringMatching(new RegExp(`^ciphertext 2 is ${reason}`)),
          });
        }
      }
    });
  });
});
