/** Evaluators over tasks return what a kernel in this process returns, and reject wrong results of workers. */
import { beforeAll, expect, test } from "vitest";
import { expectError } from "../../../../test/support/expect-error.ts";
import {
  CiphertextVector,
  generateKey,
  plaintextsFromBigints,
  type PrivateEvaluator,
  type PrivateKey,
  type PublicEvaluator,
  selectKernel,
  serialisePrivateKey,
} from "../../../crypto/paillier/index.ts";
import { writeInteger } from "../../../crypto/integers.ts";
import { PaillierTaskSchema, PaillierTaskTermsSchema } from "../../../wire/generated/tandem/v1/tasks_pb.ts";
import { bigEndianBytes } from "../../../wire/big-endian.ts";
import { encodeMessage } from "../../../wire/scheme-message.ts";
import type { TaskWork } from "../../tasks/tasks.ts";
import { taskBatches } from "./batches.ts";
import { TaskPrivateEvaluator } from "./task-private.ts";
import { TaskPublicEvaluator } from "./task-public.ts";
import { paillierTaskWork } from "./task-work.ts";
import { gradientExponents } from "../gradient-nonces.ts";

const kernel = selectKernel();
let key: PrivateKey;
let own: { readonly owner: PrivateEvaluator; readonly anyone: PublicEvaluator };
let worker: { readonly owner: TaskWork; readonly anyone: TaskWork };
beforeAll(async () => {
  key = await generateKey({ bits: 256, insecure: true });
  const { n } = key.publicKey;
  own = {
    owner: kernel.privateEvaluator(key, { threads: 1 }),
    anyone: kernel.publicEvaluator(key.publicKey, { threads: 1 }),
  };
  const terms = (given: "privateKey" | "modulus"): Uint8Array =>
    encodeMessage(PaillierTaskTermsSchema, {
      key:
        given === "privateKey"
          ? { case: given, value: serialisePrivateKey(key) }
          : { case: given, value: bigEndianBytes(n) },
      keyBits: 256,
    });
  worker = {
    owner: await paillierTaskWork(kernel, terms("privateKey"), 1),
    anyone: await paillierTaskWork(kernel, terms("modulus"), 1),
  };
});

type Change = (result: Uint8Array) => Uint8Array;
const asItIs: Change = (result) => result;

function evaluators(change = asItIs): { owner: TaskPrivateEvaluator; anyone: TaskPublicEvaluator; sizes: number[] } {
  const sizes: number[] = [];
  const tasksOf = (work: TaskWork) => ({
    run: async (task: Uint8Array) => {
      sizes.push(task.length);
      return change(await work.do(task));
    },
  });
  return {
    owner: new TaskPrivateEvaluator(own.owner, () => tasksOf(worker.owner)),
    anyone: new TaskPublicEvaluator(own.anyone, tasksOf(worker.anyone)),
    sizes,
  };
}

const numbers = Array.from({ length: 600 }, (_, i) => BigInt(i) * 12_345n);

test("encryption in batches decrypts to the plaintexts", async () => {
  const { owner, sizes } = evaluators();
  const plaintexts = plaintextsFromBigints(key.publicKey, numbers);
  const encrypted = await owner.encrypt(plaintexts);
  expect(encrypted.count).toBe(numbers.length);
  expect((await own.owner.decrypt(encrypted)).bytes).toEqual(plaintexts.bytes);
  expect((await owner.decrypt(encrypted)).bytes).toEqual(plaintexts.bytes);
  expect(sizes.length).toBeGreaterThan(6);
});

test("with reproducible nonces the ciphertexts equal those of one process and of the auditor", async () => {
  const { owner } = evaluators();
  const plaintexts = plaintextsFromBigints(key.publicKey, numbers);
  const parts = (): ReturnType<typeof gradientExponents> =>
    gradientExponents(new Uint8Array(32).fill(3), 7, 100, numbers.length);
  const encrypted = await owner.encryptDrawn(plaintexts, parts());
  expect(encrypted.bytes).toEqual((await own.owner.encryptDrawn(plaintexts, parts())).bytes);
});

test("packing decrypts to the same sums, and is fresh every time", async () => {
  const { anyone, sizes } = evaluators();
  const sealed = await own.owner.encrypt(plaintextsFromBigints(key.publicKey, numbers.slice(0, 50)));
  const source = anyone.allocate(50);
  await anyone.load(sealed, source, 0);
  for (const perCiphertext of [1, 3, 50]) {
    const request = { source, strideBits: 5, perCiphertext };
    const packed = [await anyone.pack(request), await anyone.pack(request), await own.anyone.pack(request)];
    const [first, again, ours] = await Promise.all(packed.map((vector) => own.anyone.unload(vector)));
    expect(first.bytes).not.toEqual(again.bytes);
    const expected = (await own.owner.decrypt(ours)).bytes;
    for (const theirs of [first, again]) expect((await own.owner.decrypt(theirs)).bytes).toEqual(expected);
  }
  expect(sizes.length).toBeGreaterThan(6);
});

test("encryption with the public key is fresh", async () => {
  const { anyone } = evaluators();
  const sealed = await own.owner.encrypt(plaintextsFromBigints(key.publicKey, numbers.slice(0, 50)));
  const source = anyone.allocate(50);
  await anyone.load(sealed, source, 0);
  const fresh = await anyone.unload(
    await anyone.add(
      source,
      await anyone.encrypt(
        plaintextsFromBigints(
          key.publicKey,
          Array.from({ length: 50 }, () => 0n),
        ),
      ),
    ),
  );
  expect(fresh.bytes).not.toEqual(sealed.bytes);
  expect((await own.owner.decrypt(fresh)).bytes).toEqual((await own.owner.decrypt(sealed)).bytes);
});

test("a ciphertext that cannot be decrypted is reported by its index among all", async () => {
  const { owner } = evaluators();
  const { ciphertextBytes: width, nSquared } = key.publicKey;
  const encrypted = await own.owner.encrypt(plaintextsFromBigints(key.publicKey, numbers.slice(0, 100)));
  writeInteger(encrypted.bytes, width, 77, nSquared);
  await expectError(() => owner.decrypt(encrypted), "CIPHERTEXT_RANGE", /^ciphertext 77 is not between/);
  writeInteger(encrypted.bytes, width, 77, key.p);
  await expectError(() => owner.decrypt(encrypted), "CIPHERTEXT_RANGE", /^ciphertext 77 is not invertible/);
});

test("results of a worker that are too short, too long or wrong are rejected", async () => {
  const { ciphertextBytes: width, plaintextBytes, n, nSquared } = key.publicKey;
  const plaintexts = plaintextsFromBigints(key.publicKey, [1n, 2n]);
  const written =
    (size: number, value: bigint): Change =>
    (result) => {
      writeInteger(result, size, 1, value);
      return result;
    };
  for (const [change, words] of [
    [(result: Uint8Array) => result.subarray(width), /does not match its task/],
    [(result: Uint8Array) => Uint8Array.of(...result, ...new Uint8Array(width).fill(1)), /does not match its task/],
    [written(width, nSquared), /is not a valid ciphertext/],
    [written(width, 0n), /is not a valid ciphertext/],
  ] as const)
    await expectError(() => evaluators(change).owner.encrypt(plaintexts), "INTERNAL", words);
  const encrypted = await own.owner.encrypt(plaintexts);
  for (const value of [n, n + 1n])
    await expectError(
      () => evaluators(written(plaintextBytes, value)).owner.decrypt(encrypted),
      "INTERNAL",
      /is not a valid plaintext/,
    );
  const outOfRange = evaluators(written(width, nSquared)).anyone;
  const source = own.anyone.allocate(2);
  await own.anyone.load(new CiphertextVector(encrypted.bytes, width), source, 0);
  await expectError(
    () => outOfRange.pack({ source, strideBits: 8, perCiphertext: 1 }),
    "CIPHERTEXT_RANGE",
    /not between/,
  );
  const shared: Change = (result) => {
    writeInteger(result, width, 0, key.q);
    return result;
  };
  await expectError(
    () => evaluators(shared).anyone.pack({ source, strideBits: 8, perCiphertext: 2 }),
    "CIPHERTEXT_RANGE",
    /not invertible/,
  );
});

test("a worker with the public key only does no private task, and unknown tasks are rejected", async () => {
  const decrypting = encodeMessage(PaillierTaskSchema, {
    kind: { case: "decrypt", value: { ciphertexts: new Uint8Array(64).fill(1) } },
  });
  await expectError(() => worker.anyone.do(decrypting), "PROTOCOL_STATE", /needs the private key/);
  await expectError(() => worker.anyone.do(new Uint8Array(0)), "PROTOCOL_STATE", /unknown task/);
  await expectError(() => worker.anyone.do(Uint8Array.of(255)), "PROTOCOL_STATE", /no PaillierTask/);
  await expectError(() => paillierTaskWork(kernel, new Uint8Array(0), 1), "PROTOCOL_STATE");
});

test("no batch exceeds a message, for any key size", () => {
  for (const elementBytes of [64, 1024, 20_000, 400_000]) {
    const batches = taskBatches(1000, elementBytes, 256);
    expect(batches.every(({ first, end }) => (end - first) * elementBytes <= 512 << 10)).toBe(true);
    expect(batches.reduce((sum, { first, end }) => sum + end - first, 0)).toBe(1000);
    expect(batches[batches.length - 1].end).toBe(1000);
  }
  expect(taskBatches(0, 64, 256)).toEqual([]);
});
