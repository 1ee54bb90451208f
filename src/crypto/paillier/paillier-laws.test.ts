/** The homomorphic properties of Paillier, for every kernel. */
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";

import { generateKey } from "./key-generation.ts";
import type { PrivateEvaluator, PublicEvaluator } from "./kernel.ts";
import type { PrivateKey } from "./keys.ts";
import { loadNativeKernel } from "./native-kernel.ts";
import { portableKernel } from "./portable-kernel.ts";
import { bigintsFromPlaintexts, plaintextsFromBigints, signedFromPlaintext } from "./signed-plaintexts.ts";
import type { ResidentVector } from "./vectors.ts";

const natives = loadNativeKernel().kernels;
if (natives.size === 0)
  console.warn("native kernel not built: Paillier's properties are tested on the portable kernel only");
const kernels = [portableKernel, ...natives.values()];
const runs = { numRuns: 25 };

describe.each(kernels)("Paillier on the $name kernel", (kernel) => {
  const bits = 256;
  let key: PrivateKey;
  let anyone: PublicEvaluator;
  let owner: PrivateEvaluator;
  let thrifty: PrivateEvaluator;

  beforeAll(async () => {
    key = await generateKey({ bits, insecure: true });
    anyone = kernel.publicEvaluator(key.publicKey, { threads: 2 });
    owner = kernel.privateEvaluator(key, { threads: 2 });
    thrifty = kernel.privateEvaluator(key, { threads: 2, exponents: "short" });
  });

  const seal = async (values: readonly bigint[]): Promise<ResidentVector> => {
    const ciphertexts = await owner.encrypt(plaintextsFromBigints(key.publicKey, values));
    const resident = anyone.allocate(values.length);
    await anyone.load(ciphertexts, resident, 0);
    return resident;
  };
  const open = async (vector: ResidentVector): Promise<bigint[]> =>
    bigintsFromPlaintexts(await owner.decrypt(await anyone.unload(vector)));
  const openSigned = async (vector: ResidentVector): Promise<bigint[]> =>
    (await open(vector)).map((value) => signedFromPlaintext(key.publicKey, value));

  /** Signed numbers that sums of a few cannot push over n/2. */
  const signed = fc.bigInt(-(1n << 240n), 1n << 240n);
  const pairs = fc.array(fc.tuple(signed, signed), { minLength: 1, maxLength: 9 });

  it("decrypts what the owner or a public-key holder encrypted", () =>
    fc.assert(
      fc.asyncProperty(fc.array(signed, { maxLength: 9 }), async (values) => {
        expect(await openSigned(await seal(values))).toEqual(values);
        const plaintexts = plaintextsFromBigints(key.publicKey, values);
        expect(await openSigned(await anyone.encrypt(plaintexts))).toEqual(values);
        const ciphertexts = await thrifty.encrypt(plaintexts);
        expect(bigintsFromPlaintexts(await owner.decrypt(ciphertexts))).toEqual(bigintsFromPlaintexts(plaintexts));
      }),
      runs,
    ));

  it("covers the whole plaintext space", async () => {
    const values = [0n, 1n, key.publicKey.n - 1n, key.publicKey.n / 2n];
    expect(await open(await seal(values))).toEqual(values);
  });

  it("adds", () =>
    fc.assert(
      fc.asyncProperty(pairs, async (given) => {
        const a = await seal(given.map(([x]) => x));
        const b = await seal(given.map(([, y]) => y));
        expect(await openSigned(await anyone.add(a, b))).toEqual(given.map(([x, y]) => x + y));
      }),
      runs,
    ));

  it("scales", () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(signed, fc.bigInt(0n, 4096n)), { minLength: 1, maxLength: 5 }),
        async (given) => {
          const scalars = plaintextsFromBigints(
            key.publicKey,
            given.map(([, scalar]) => scalar),
          );
          const scaled = await anyone.scale(await seal(given.map(([x]) => x)), scalars);
          expect(await openSigned(scaled)).toEqual(given.map(([x, scalar]) => x * scalar));
        },
      ),
      runs,
    ));

  it("adding an encryption of zero changes the ciphertext only; ciphertexts of a value differ", async () => {
    const sealed = await seal([5n, 5n, -7n]);
    const again = await anyone.add(sealed, await anyone.encrypt(plaintextsFromBigints(key.publicKey, [0n, 0n, 0n])));
    const [before, after] = [await anyone.unload(sealed), await anyone.unload(again)];
    const element = (bytes: Uint8Array, i: number): string =>
      Buffer.from(bytes.slice(i * before.sizeBytes, (i + 1) * before.sizeBytes)).toString("hex");
    const all = [0, 1, 2].flatMap((i) => [element(before.bytes, i), element(after.bytes, i)]);
    expect(new Set(all).size).toBe(6);
    expect(await openSigned(again)).toEqual([5n, 5n, -7n]);
  });

  it("packs by Horner shifts, the last ciphertext partly filled", () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.bigInt(0n, (1n << 20n) - 1n), { maxLength: 13 }),
        fc.integer({ min: 1, max: 6 }),
        async (values, perCiphertext) => {
          const packed = await anyone.pack({ source: await seal(values), strideBits: 20, perCiphertext });
          const expected: bigint[] = [];
          for (const [i, value] of values.entries()) {
            if (i % perCiphertext === 0) expected.push(0n);
            expected[expected.length - 1] += value << BigInt(20 * (i % perCiphertext));
          }
          expect(await open(packed)).toEqual(expected);
        },
      ),
      runs,
    ));

  it("sums chains", async () => {
    const sums = await anyone.runningSums({
      source: await seal([1n, 10n, 100n, 1000n]),
      chainOffsets: Uint32Array.of(0, 3, 3, 5),
      sources: Uint32Array.of(0, 1, 2, 3, 3),
      targets: Int32Array.of(3, -1, 0, 2, 1),
      targetCount: 4,
    });
    expect(await open(sums)).toEqual([111n, 2000n, 1000n, 1n]);
  });

  it.each([1, 2])("sums histograms with %i ciphertexts per instance; empty and skipped bins are zero", (per) =>
    fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 12 }).chain((count) =>
          fc.record({
            values: fc.array(signed, { minLength: count * per, maxLength: count * per }),
            instances: fc.subarray(Array.from({ length: count }, (_, i) => i)),
            features: fc.array(
              fc.record({
                bins: fc.array(fc.integer({ min: 0, max: 4 }), { minLength: count, maxLength: count }),
                skipped: fc.integer({ min: -1, max: 4 }),
              }),
              { maxLength: 6 },
            ),
          }),
        ),
        async ({ values, instances, features }) => {
          const histogram = await anyone.histogram({
            gradients: await seal(values),
            ciphertextsPerInstance: per,
            instances: Uint32Array.from(instances),
            bins: features.map(({ bins }) => Uint16Array.from(bins)),
            binCounts: Uint32Array.from(features, () => 5),
            skippedBins: Int32Array.from(features, ({ skipped }) => skipped),
          });
          const expected = Array.from({ length: features.length * 5 * per }, () => 0n);
          for (const [f, { bins, skipped }] of features.entries()) {
            for (const i of instances) {
              if (bins[i] === skipped) continue;
              for (let j = 0; j < per; j++) expected[(f * 5 + bins[i]) * per + j] += values[i * per + j];
            }
          }
          expect(await openSigned(histogram)).toEqual(expected);
        },
      ),
      runs,
    ),
  );
});
