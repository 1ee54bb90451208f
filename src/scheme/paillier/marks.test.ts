/**
 * A malicious active party encrypts marks, one bit per instance, instead of gradients, and reads from the sums which
 * instances are on a side. The content of ciphertexts cannot be checked, but plaintexts are only as wide as sums of
 * gradients need.
 */
import { beforeAll, expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { collect } from "../../../test/support/streams.ts";
import {
  bench,
  type Bench,
  instanceCount,
  keyBits,
  loaded,
  rootsOf,
  sumsOf,
  treeOf,
} from "../../../test/support/paillier-bench.ts";
import { agreedLayout } from "../../codec/agreed-layout.ts";
import { noiseOffset } from "../../codec/slot.ts";
import { CiphertextVector, generateKey, plaintextsFromBigints, type PrivateKey } from "../../crypto/paillier/index.ts";
import { portableKernel } from "../../crypto/paillier/portable-kernel.ts";
import { binGoesLeft } from "../../gbdt/split/candidate.ts";
import { PaillierGradientsSchema, PaillierSetUpSchema } from "../../wire/generated/tandem/v1/paillier_pb.ts";
import { bigEndianBytes } from "../../wire/big-endian.ts";
import { encodeMessage } from "../../wire/scheme-message.ts";
import { candidateIn } from "../candidates/candidate-set.ts";
import type { SentNodes } from "../candidates/sent-nodes.ts";

let key: PrivateKey;
let roots: Uint8Array[];
beforeAll(async () => {
  key = await generateKey({ bits: keyBits, insecure: true });
  roots = await rootsOf(key);
});

/** Far fewer bits than instances. */
const coarse = { resolutionBits: 4, answerNoise: 0 };

function made(changes: Partial<Bench["job"]["terms"]>): Bench {
  const whole = bench(key, "batched", undefined, changes.answerNoise);
  return { ...whole, job: { ...whole.job, terms: { ...whole.job.terms, ...changes } } };
}

/** The decrypted root, one number per ciphertext. @param marks per instance */
async function decrypted(
  whole: Bench,
  marks: readonly bigint[],
  setUp: { readonly plaintextBits: number; readonly packing: boolean },
): Promise<bigint[]> {
  const { passive, job } = whole;
  const modulus = bigEndianBytes(key.publicKey.n);
  const message = { modulus, ciphertextsPerInstance: 1, ...setUp, roots };
  await passive.setUp(encodeMessage(PaillierSetUpSchema, message), job);
  const nodes = treeOf(whole);
  passive.beginRound(nodes);
  const evaluator = portableKernel.privateEvaluator(key, { threads: 1 });
  const { bytes: ciphertexts } = await evaluator.encrypt(plaintextsFromBigints(key.publicKey, marks));
  await passive.gradients(encodeMessage(PaillierGradientsSchema, { firstInstance: 0, ciphertexts }));
  await passive.endOfGradients();
  return asked(whole, nodes, evaluator);
}

/** The root's sums, each ciphertext as one number. */
async function asked(
  { passive }: Bench,
  nodes: SentNodes,
  evaluator = portableKernel.privateEvaluator(key, { threads: 1 }),
): Promise<bigint[]> {
  const pieces = await collect(passive.sums(nodes.task(0)));
  const all = Buffer.concat(pieces.map(({ message }) => sumsOf(message)));
  const { bytes, sizeBytes, count } = await evaluator.decrypt(new CiphertextVector(all, key.publicKey.ciphertextBytes));
  return Array.from({ length: count }, (_, i) =>
    BigInt(
      `0x${Buffer.from(bytes.slice(i * sizeBytes, (i + 1) * sizeBytes))
        .reverse()
        .toString("hex")}`,
    ),
  );
}

/** Per candidate, in its order, a bit for each of the first instances that is on the summed side. */
function truth(whole: Bench, people: number): bigint[] {
  const set = treeOf(whole).candidates(0);
  return Array.from(set.byPosition, (_, position) => {
    const candidate = candidateIn(set, position);
    const feature = whole.features[candidate.feature];
    let bits = 0n;
    for (let i = 0; i < people; i++)
      if (binGoesLeft(feature, candidate, feature.bins[i]) === (set.plan.sides[position] === 1))
        bits |= 1n << BigInt(i);
    return bits;
  });
}

const marksOf = (people: number): bigint[] =>
  Array.from({ length: instanceCount }, (_, i) => (i < people ? 1n << BigInt(i) : 0n));

const fields = (packed: readonly bigint[], stride: number, count: number): bigint[] => {
  const perCiphertext = Math.floor((keyBits - 1) / stride);
  return Array.from({ length: count }, (_, k) =>
    BigInt.asUintN(stride, packed[Math.floor(k / perCiphertext)] >> BigInt((k % perCiphertext) * stride)),
  );
};

/** Candidates with at least one summed instance. */
const shown = (whole: Bench): number[] =>
  [...treeOf(whole).task(0).counts].flatMap((count, k) => (count > 0 ? [k] : []));
const ofShown = (whole: Bench, values: readonly bigint[]): bigint[] => shown(whole).map((k) => values[k]);

test("a sum in its own ciphertext needs the data owner's permission, and has no more room than others", async () => {
  const whole = made(coarse);
  const width = agreedLayout(whole.job.terms, instanceCount, keyBits - 1).plaintextBits;
  const alone = { plaintextBits: width, packing: false };
  await expectError(() => decrypted(whole, marksOf(instanceCount), alone), "POLICY", /packing/);
  const allowing = { ...whole, job: { ...whole.job, allowsUnpacked: true } };
  const read = ofShown(whole, await decrypted(allowing, marksOf(instanceCount), alone));
  const right = ofShown(whole, truth(whole, instanceCount));
  const low = (values: readonly bigint[]): bigint[] => values.map((value) => BigInt.asUintN(width, value));
  expect(low(read)).toEqual(low(right));
  const above = (value: bigint): bigint => BigInt.asUintN(instanceCount - width, value >> BigInt(width));
  expect(read.filter((value, k) => above(value) === above(right[k])).length).toBeLessThan(read.length / 4);
});

test("random bits fill the room above the last sum and the empty sums: marks cannot overflow into them", async () => {
  const whole = made(coarse);
  const { plaintextBits: width } = agreedLayout(whole.job.terms, instanceCount, keyBits - 1);
  const count = whole.job.candidateCount;
  expect(shown(whole).length).toBeLessThan(count); // one feature is missing for all instances
  const perCiphertext = Math.floor((keyBits - 1) / width);
  const last = count % perCiphertext;
  expect(last).toBeGreaterThan(0); // there are fewer sums than there is room for
  // One mark where the room begins, then none.
  const marks = (mark: bigint): bigint[] => Array.from({ length: instanceCount }, () => mark);
  const packings = [];
  for (const mark of [0n, 0n, 1n << BigInt(last * width)])
    packings.push(await decrypted(whole, marks(mark), { plaintextBits: width, packing: true }));
  const room = packings.map((packed) => packed[packed.length - 1] >> BigInt(last * width));
  expect(new Set(room).size).toBe(3);
  for (const above of room) expect(above.toString(2).length).toBeGreaterThan(keyBits - last * width - 40);
  // The sum over no instance would be 0.
  const empty = packings.map((packed) => fields(packed, width, count).filter((_, k) => !shown(whole).includes(k)));
  expect(new Set(empty.flat()).size).toBe(empty.flat().length);
});

test("the bits next to the sums are the same in a repeated request, and different in another round", async () => {
  for (const answerNoise of [0, 1]) {
    const whole = await loaded(made({ answerNoise }));
    const evaluator = portableKernel.privateEvaluator(key, { threads: 1 });
    const first = await asked(whole, whole.nodes, evaluator);
    expect(await asked(whole, whole.nodes, evaluator)).toEqual(first);
    const again = await loaded(whole);
    const other = await asked(again, again.nodes, evaluator);
    other.forEach((value, i) => expect(value).not.toBe(first[i]));
  }
});

test("wide plaintexts are rejected; the allowed ones mark at most as many instances as they have bits", async () => {
  const whole = made(coarse);
  const width = agreedLayout(whole.job.terms, instanceCount, keyBits - 1).plaintextBits;
  expect(width).toBeLessThan(instanceCount);
  await expectError(
    () => decrypted(whole, marksOf(instanceCount), { plaintextBits: instanceCount, packing: true }),
    "POLICY",
    /need 1 of 25$/,
  );
  const setUp = { plaintextBits: width, packing: true };
  const read = fields(await decrypted(whole, marksOf(width), setUp), width, whole.job.candidateCount);
  expect(ofShown(whole, read)).toEqual(ofShown(whole, truth(whole, width)));
  const spilt = fields(await decrypted(whole, marksOf(instanceCount), setUp), width, whole.job.candidateCount);
  // Marks beyond the width overflow into the next candidate's.
  expect(ofShown(whole, spilt)).not.toEqual(ofShown(whole, truth(whole, width)));
});

test("noise hides marks, and random bits fill the room above the last sum", async () => {
  const whole = made({ answerNoise: 1 });
  const { plaintextBits } = whole.layout;
  const setUp = { plaintextBits, packing: true };
  const [first, again] = [await decrypted(whole, marksOf(20), setUp), await decrypted(whole, marksOf(20), setUp)];
  const count = whole.job.candidateCount;
  const read = fields(first, plaintextBits, count);
  expect(fields(again, plaintextBits, count)).toEqual(read); // a repeated request reveals nothing new
  const right = truth(whole, 20);
  const { noise } = whole.layout.slots[1];
  const offset = noise === undefined ? 0n : noiseOffset(noise);
  const matching = read.filter((field, k) => BigInt.asUintN(20, field - offset) === right[k]);
  expect(matching.length).toBeLessThan(count / 4);
  const perCiphertext = Math.floor((keyBits - 1) / plaintextBits);
  const top = BigInt(perCiphertext * plaintextBits);
  first.forEach((plain, i) => expect(plain >> top).not.toBe(again[i] >> top));
});
