/**
 * Timing of what native/ claims to be constant-time, after dudect (Reparaz, Balasch, Verbauwhede 2017): two classes of
 * inputs are interleaved in random order, and Welch's t-test compares their times. The test must first catch a planted
 * leak; where it cannot, the machine is too noisy to say anything, and it fails.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { osRandom } from "../../src/base/random.ts";
import type { Curve, HeldScalars } from "../../src/crypto/curve/kernel.ts";
import { loadNativeCurve } from "../../src/crypto/curve/native-kernel.ts";
import { integerBytes, writeInteger } from "../../src/crypto/integers.ts";
import type { SeamedPrivateEvaluator, SeamedPublicEvaluator } from "../../src/crypto/paillier/evaluator-seams.ts";
import { generateKey } from "../../src/crypto/paillier/key-generation.ts";
import type { PrivateKey } from "../../src/crypto/paillier/keys.ts";
import { loadNativeKernel } from "../../src/crypto/paillier/native-kernel.ts";
import { exponentBytes, uniformBelow } from "../../src/crypto/paillier/nonces.ts";
import { CiphertextVector, PlaintextVector } from "../../src/crypto/paillier/vectors.ts";

const { kernels } = loadNativeKernel();
const names = [...kernels.keys()].filter((name) => !name.includes("emulated"));

/** Enough for a difference of a percent. */
const pairsPerRound = 400;
/** dudect calls 4.5 suspicious and 10 a proof. A claim fails only if every round is above, with the same sign. */
const proof = 10;
const rounds = 4;

type Operation = () => Promise<unknown>;

async function timed(operation: Operation): Promise<number> {
  const started = performance.now();
  await operation();
  return performance.now() - started;
}

/** Welch's t of the faster halves: what the scheduler adds is in the slower ones. */
async function welch(first: Operation, second: Operation): Promise<number> {
  const times: [number[], number[]] = [[], []];
  for (let i = 0; i < pairsPerRound; i++) {
    const order = osRandom.fill(new Uint8Array(1))[0] % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const);
    for (const which of order) times[which].push(await timed(which === 0 ? first : second));
  }
  const median = times.flat().toSorted((a, b) => a - b)[pairsPerRound];
  const [a, b] = times.map((all) => {
    const kept = all.filter((time) => time <= median);
    const mean = kept.reduce((sum, time) => sum + time, 0) / kept.length;
    const variance = kept.reduce((sum, time) => sum + (time - mean) ** 2, 0) / (kept.length - 1);
    return { mean, share: variance / kept.length, count: kept.length };
  });
  // All of one class above the median: nothing could differ more.
  if (Math.min(a.count, b.count) < 10) return a.count < b.count ? Infinity : -Infinity;
  return (a.mean - b.mean) / Math.sqrt(a.share + b.share);
}

async function isLeak(first: Operation, second: Operation): Promise<boolean> {
  const scores: number[] = [];
  for (let round = 0; round < rounds; round++) {
    scores.push(await welch(first, second));
    if (Math.abs(scores[round]) < proof || Math.sign(scores[round]) !== Math.sign(scores[0])) return false;
  }
  return true;
}

describe.each(names)("%s kernel", (name) => {
  let key: PrivateKey;
  let owner: SeamedPrivateEvaluator;
  let other: SeamedPublicEvaluator;
  beforeAll(async () => {
    key = await generateKey({ bits: 1024, insecure: true });
    const kernel = kernels.get(name);
    if (kernel === undefined) throw new Error(`no kernel ${name}`);
    owner = kernel.privateEvaluator(key, { threads: 1 }) as SeamedPrivateEvaluator;
    other = kernel.publicEvaluator(key.publicKey, { threads: 1 }) as SeamedPublicEvaluator;
  });

  const count = 8;
  const flat = (sizeBytes: number, value: () => bigint): Uint8Array => {
    const bytes = new Uint8Array(count * sizeBytes);
    for (let i = 0; i < count; i++) writeInteger(bytes, sizeBytes, i, value());
    return bytes;
  };
  const plaintexts = (value: () => bigint): PlaintextVector =>
    new PlaintextVector(flat(key.publicKey.plaintextBytes, value), key.publicKey.plaintextBytes);
  const random = (): bigint => uniformBelow(osRandom, key.publicKey.n);

  test("a planted leak is caught: decryption that works an eighth longer unless the plaintext is zero", async () => {
    const [zeros, randoms] = [await owner.encrypt(plaintexts(() => 0n)), await owner.encrypt(plaintexts(random))];
    const { ciphertextBytes } = key.publicKey;
    const one = new CiphertextVector(randoms.bytes.slice(0, ciphertextBytes), ciphertextBytes);
    const leaky = (ciphertexts: CiphertextVector) => async () => {
      const { bytes } = await owner.decrypt(ciphertexts);
      if (bytes.some((byte) => byte !== 0)) await owner.decrypt(one);
    };
    expect(await isLeak(leaky(zeros), leaky(randoms)), "this machine is too noisy to time anything").toBe(true);
  });

  test("decryption takes as long for zeros as for random plaintexts", async () => {
    const [zeros, randoms]: CiphertextVector[] = [
      await owner.encrypt(plaintexts(() => 0n)),
      await owner.encrypt(plaintexts(random)),
    ];
    expect(
      await isLeak(
        () => owner.decrypt(zeros),
        () => owner.decrypt(randoms),
      ),
    ).toBe(false);
  });

  test("obfuscators take as long for small bases as for random ones", async () => {
    const { plaintextBytes } = key.publicKey;
    const [small, large] = [flat(plaintextBytes, () => 2n), flat(plaintextBytes, random)];
    const made = (bases: Uint8Array) => async () => other.free(await other.obfuscatorsFrom(bases.slice()));
    expect(await isLeak(made(small), made(large))).toBe(false);
  });

  test("packing takes as long for small bases as for random ones", async () => {
    const { plaintextBytes, ciphertextBytes } = key.publicKey;
    const [small, large] = [flat(plaintextBytes, () => 2n), flat(plaintextBytes, random)];
    const source = other.allocate(2 * count);
    const sealed = await owner.encrypt(new PlaintextVector(new Uint8Array(2 * count), 1));
    await other.load(new CiphertextVector(sealed.bytes, ciphertextBytes), source, 0);
    const request = { source, strideBits: 40, perCiphertext: 2 };
    const packed = (bases: Uint8Array) => async () => other.free(await other.packFrom(request, bases.slice()));
    expect(await isLeak(packed(small), packed(large))).toBe(false);
  });

  test("owner encryption takes as long for few set bits in the exponents as for random ones", async () => {
    const sizeBytes = exponentBytes(key);
    const limit = 1n << BigInt(8 * (sizeBytes - 1));
    const drawn = (value: () => bigint) => ({ p: flat(sizeBytes, value), q: flat(sizeBytes, value), sizeBytes });
    const message = plaintexts(random);
    const [sparse, dense] = [drawn(() => 1n), drawn(() => uniformBelow(osRandom, limit))];
    const encrypted = (exponents: typeof sparse) => () =>
      owner.encryptWithExponents(message, {
        ...exponents,
        p: exponents.p.slice(),
        q: exponents.q.slice(),
      });
    expect(await isLeak(encrypted(sparse), encrypted(dense))).toBe(false);
  });
});

describe.each([...loadNativeCurve().kernels.values()])("$name kernel of the curve scheme", (kernel) => {
  const curve: Curve = kernel.curve(1);
  /** Enough work for the kernel with most lanes. */
  const count = 384;
  const places = Uint32Array.from({ length: count }, (_, i) => i);
  const sparse = Buffer.concat(Array.from({ length: count }, () => integerBytes(1n, 64)));
  const random = osRandom.fill(new Uint8Array(64 * count));
  const scalars = (): Promise<HeldScalars[]> => Promise.all([sparse, random].map((bytes) => curve.scalars(bytes)));
  const secrets = (): Promise<HeldScalars[]> =>
    Promise.all([sparse, random].map((bytes) => curve.scalars(bytes.slice(0, 128))));

  test("a planted leak is caught: multiples that take an eighth longer unless the scalars are sparse", async () => {
    const [ones, drawn] = await scalars();
    const few = places.slice(0, count / 8);
    const leaky = (held: HeldScalars) => async () => {
      await curve.multiples(held, places);
      if (held === drawn) await curve.multiples(held, few);
    };
    expect(await isLeak(leaky(ones), leaky(drawn)), "this machine is too noisy to time anything").toBe(true);
  });

  test("multiples take as long for sparse scalars as for random ones", async () => {
    const [ones, drawn] = await scalars();
    expect(
      await isLeak(
        () => curve.multiples(ones, places),
        () => curve.multiples(drawn, places),
      ),
    ).toBe(false);
  });

  test("encryption takes as long for zeros and sparse secrets as for random ones", async () => {
    const [[ones, rows], [one, secret]] = [await scalars(), await secrets()];
    const zeros = new Int32Array(2 * count);
    const drawn = new Int32Array(osRandom.fill(new Uint8Array(8 * count)).buffer);
    expect(
      await isLeak(
        () => curve.encrypt({ rows: ones, places, secrets: one, plaintexts: zeros }),
        () => curve.encrypt({ rows, places, secrets: secret, plaintexts: drawn }),
      ),
    ).toBe(false);
  });

  test("opening takes as long for a sparse secret as for a random one, whatever the sums are", async () => {
    const [[, rows], [one, secret]] = [await scalars(), await secrets()];
    const logarithms = await curve.logarithms(1000);
    const points = await curve.multiples(rows, places.slice(0, 192));
    const bounds = new Float64Array(128).fill(1000);
    const request = { points, centres: new Float64Array(128), bounds, logarithms };
    expect(
      await isLeak(
        () => curve.open({ ...request, secrets: one }),
        () => curve.open({ ...request, secrets: secret }),
      ),
    ).toBe(false);
  });

  test("an answer takes as long for sparse masks as for random ones", async () => {
    const [, rows] = await scalars();
    const sums = await curve.decode(await curve.multiples(rows, places), 1);
    const keys = await curve.keys(await curve.multiples(rows, Uint32Array.of(1)));
    const answered = (masks: Uint8Array) => () =>
      curve.answer({
        bases: sums,
        values: sums,
        chainOffsets: Uint32Array.of(0, count),
        sources: places,
        targets: Int32Array.from(places),
        suppressed: new Uint8Array(count),
        noise: null,
        keys,
        masks,
      });
    expect(await isLeak(answered(sparse), answered(random))).toBe(false);
  });
});
