/**
 * Timing of what native/ claims to be constant-time, after dudect (Reparaz, Balasch, Verbauwhede 2017): two classes of
 * inputs are interleaved in random order, and Welch's t-test compares their times. The test must first catch a planted
 * leak; where it cannot, the machine is too noisy to say anything, and it fails.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { osRandom } from "../../src/base/random.ts";
import { writeInteger } from "../../src/crypto/integers.ts";
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
