/** Each half of the Paillier scheme against invalid messages of its peer. */
import { beforeAll, describe, expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { bestRoots, chained } from "../../../test/support/bad-moduli.ts";
import { collect } from "../../../test/support/streams.ts";
import { CiphertextVector, generateKey, plaintextsFromBigints, type PrivateKey } from "../../crypto/paillier/index.ts";
import { portableKernel } from "../../crypto/paillier/portable-kernel.ts";
import { bigEndianBytes } from "../../wire/big-endian.ts";
import { bitmapFrom } from "../../wire/bitmap.ts";
import { decodeMessage, encodeMessage } from "../../wire/scheme-message.ts";
import {
  PaillierGradientsSchema,
  PaillierSetUpSchema,
  PaillierSumsSchema,
} from "../../wire/generated/tandem/v1/paillier_pb.ts";
import type { SentNodes } from "../candidates/sent-nodes.ts";
import { PaillierActive } from "./active.ts";
import { agreedLayout } from "../../codec/agreed-layout.ts";
import type { SentPassiveJob } from "../sent-scheme.ts";
import type { PaillierPassive } from "./passive.ts";
import {
  answerOf,
  type Bench,
  bench,
  instanceCount,
  keyBits,
  loaded,
  rootsOf,
  sumsOf,
  treeOf,
} from "../../../test/support/paillier-bench.ts";

let key: PrivateKey;
let roots: Uint8Array[];
beforeAll(async () => {
  key = await generateKey({ bits: keyBits, insecure: true });
  roots = await rootsOf(key);
});

function littleEndian(value: bigint, sizeBytes: number): Uint8Array {
  return Uint8Array.from(Buffer.from(value.toString(16).padStart(2 * sizeBytes, "0"), "hex")).reverse();
}

describe("a passive party rejects a set-up", () => {
  const setUpWith = (change: {
    modulus?: Uint8Array;
    ciphertextsPerInstance?: number;
    plaintextBits?: number;
    packing?: boolean;
    roots?: Uint8Array[];
    job?: Partial<SentPassiveJob>;
  }): (() => Promise<unknown>) => {
    const { passive, job } = bench(key);
    const good = {
      modulus: bigEndianBytes(key.publicKey.n),
      ciphertextsPerInstance: 1,
      plaintextBits: 65,
      packing: true,
      roots,
    };
    const { job: otherJob, ...message } = change;
    return () => passive.setUp(encodeMessage(PaillierSetUpSchema, { ...good, ...message }), { ...job, ...otherJob });
  };

  test("the valid one passes", () => expect(setUpWith({})()).resolves.toBeInstanceOf(Uint8Array));

  test("plaintexts wider or more numerous than the agreed resolution needs: POLICY", async () => {
    const { terms } = bench(key).job;
    await expectError(setUpWith({ plaintextBits: 66 }), "POLICY", /1 plaintexts of 66 bits .* need 1 of 65$/);
    await expectError(setUpWith({ ciphertextsPerInstance: 2 }), "POLICY", /2 plaintexts of 65 bits/);
    await setUpWith({ plaintextBits: 67, job: { instanceCount: 80 } })();
    const paper = { ...terms, resolutionBits: 0, slotBits: 30 };
    await setUpWith({ plaintextBits: 64, job: { terms: paper } })();
    await expectError(setUpWith({ plaintextBits: 65, job: { terms: paper } }), "POLICY", /need 1 of 64/);
    const one = { ...terms, codec: "unbatched" };
    await setUpWith({ ciphertextsPerInstance: 2, plaintextBits: 33, job: { terms: one } })();
    await expectError(
      setUpWith({ ciphertextsPerInstance: 2, plaintextBits: 34, job: { terms: one } }),
      "POLICY",
      /need 2 of 33/,
    );
  });

  test("with several plaintexts per instance, none is wider than its slots: POLICY", async () => {
    const job = { terms: { ...bench(key).job.terms, outputs: 5 } };
    const { plaintexts, plaintextBits } = agreedLayout(job.terms, instanceCount, keyBits - 1);
    const ciphertextsPerInstance = plaintexts.length;
    expect(ciphertextsPerInstance).toBe(2);
    await setUpWith({ ciphertextsPerInstance, plaintextBits, job })();
    for (const wider of [plaintextBits + 1, keyBits - 1])
      await expectError(setUpWith({ ciphertextsPerInstance, plaintextBits: wider, job }), "POLICY", /need 2 of/);
    await expectError(setUpWith({ ciphertextsPerInstance: 3, plaintextBits, job }), "POLICY", /need 2 of/);
  });

  test("narrower or fewer plaintexts: the layout is fixed to the bit, with and without noise", async () => {
    for (const answerNoise of [0, 1]) {
      const job = { terms: { ...bench(key).job.terms, answerNoise } };
      const { plaintextBits: bits } = agreedLayout(job.terms, instanceCount, keyBits - 1);
      await setUpWith({ plaintextBits: bits, job })();
      await expectError(setUpWith({ plaintextBits: bits + 1, job }), "POLICY", /need 1 of/);
      await expectError(setUpWith({ plaintextBits: bits - 1, job }), "PROTOCOL_STATE", /need 1 of/);
    }
  });

  test("a ciphertext for every sum, unless the data owner allows it: POLICY", async () => {
    await expectError(setUpWith({ packing: false }), "POLICY", /packing: off asked, on needed/);
    await setUpWith({ packing: false, job: { allowsUnpacked: true } })();
  });

  test.each([
    ["no key at all", new Uint8Array(0)],
    ["zero", Uint8Array.of(0)],
    ["one", Uint8Array.of(1)],
    ["a shorter key", bigEndianBytes(2n ** 253n + 1n)],
    ["a longer key", bigEndianBytes(2n ** 257n + 1n)],
    ["an odd number of bits", bigEndianBytes(2n ** 254n + 1n)],
  ])("%s: HANDSHAKE_MISMATCH or KEY_FORMAT", async (name, modulus) => {
    await expectError(setUpWith({ modulus }), name === "zero" ? "KEY_FORMAT" : "HANDSHAKE_MISMATCH", /public key/);
  });

  test("an even number, a leading zero, far too many bytes: KEY_FORMAT", async () => {
    await expectError(setUpWith({ modulus: bigEndianBytes(key.publicKey.n + 1n) }), "KEY_FORMAT", /odd/);
    await expectError(
      setUpWith({ modulus: Uint8Array.of(0, ...bigEndianBytes(key.publicKey.n)) }),
      "KEY_FORMAT",
      /leading zero/,
    );
    await expectError(setUpWith({ modulus: new Uint8Array(1 << 20).fill(255) }), "KEY_FORMAT", /at most 512 bytes/);
  });

  test("an impossible key size, although both parties agreed on it: KEY_FORMAT, not an assertion", async () => {
    const { passive, job } = bench(key);
    const message = encodeMessage(PaillierSetUpSchema, {
      modulus: bigEndianBytes(2n ** 126n + 1n),
      ciphertextsPerInstance: 1,
      plaintextBits: 70,
    });
    await expectError(
      () => passive.setUp(message, { ...job, parameters: { keyBits: 127 } }),
      "KEY_FORMAT",
      /even number of bits/,
    );
  });

  test("an n without its proof, or with the best possible proof of a bad n: KEY_FORMAT", async () => {
    await expectError(setUpWith({ roots: [] }), "KEY_FORMAT", /no valid proof/);
    await expectError(setUpWith({ roots: roots.toReversed() }), "KEY_FORMAT", /a root is wrong/);
    const bad = chained(keyBits);
    const modulus = bigEndianBytes(bad.n);
    await expectError(setUpWith({ modulus, roots: bestRoots(bad) }), "KEY_FORMAT", /a root is wrong/);
  });

  test("a rejected set-up leaves the scheme unset", async () => {
    const made = bench(key);
    const { passive, job, layout, active } = made;
    const good = decodeMessage(PaillierSetUpSchema, await active.setUp({ layout }));
    const without = encodeMessage(PaillierSetUpSchema, { ...good, roots: [] });
    await expectError(() => passive.setUp(without, job), "KEY_FORMAT");
    await expectError(() => passive.beginRound(treeOf(made)), "PROTOCOL_STATE", /not set up/);
  });

  test.each([
    { ciphertextsPerInstance: 0 },
    { ciphertextsPerInstance: 1025 },
    { ciphertextsPerInstance: 0xffffffff },
    { plaintextBits: 0 },
    { plaintextBits: keyBits },
    { plaintextBits: 0xffffffff },
  ])(
    "invalid numbers: %o",
    async (change) => void (await expectError(setUpWith(change), "PROTOCOL_STATE", /invalid layout/)),
  );

  test("no scheme at all", async () => {
    const made = bench(key);
    const { passive, job } = made;
    await expectError(() => passive.setUp(Uint8Array.of(255, 255), job), "PROTOCOL_STATE", /no PaillierSetUp/);
    await expectError(() => passive.beginRound(treeOf(made)), "PROTOCOL_STATE", /not set up/);
    await expectError(() => passive.endOfGradients(), "PROTOCOL_STATE", /no tree/);
  });
});

describe("a passive party rejects gradients", () => {
  async function begun(
    codec: "batched" | "unbatched" = "batched",
    sampled: Uint8Array = new Uint8Array(0),
  ): Promise<{
    passive: PaillierPassive;
    bytes: Uint8Array;
    send: (firstInstance: number, ciphertexts: Uint8Array) => Promise<number>;
  }> {
    const made = bench(key, codec);
    const { active, passive, layout, gradients, job } = made;
    await passive.setUp(await active.setUp({ layout }), job);
    passive.beginRound(treeOf(made, 0, sampled));
    const [{ message }] = await collect(active.gradients(layout, gradients, null, 0));
    const { ciphertexts: bytes } = decodeMessage(PaillierGradientsSchema, message);
    const send = (firstInstance: number, ciphertexts: Uint8Array): Promise<number> =>
      passive.gradients(encodeMessage(PaillierGradientsSchema, { firstInstance, ciphertexts }));
    return { passive, bytes, send };
  }

  test("chunks out of order, repeated, or with a gap", async () => {
    const { bytes, send, passive } = await begun();
    const width = key.publicKey.ciphertextBytes;
    await expectError(() => send(1, bytes.slice(width)), "PROTOCOL_STATE", /instance 1 does not continue at 0/);
    await send(0, bytes.slice(0, 10 * width));
    await expectError(() => send(0, bytes.slice(0, 10 * width)), "PROTOCOL_STATE", /does not continue at 10/);
    await expectError(() => send(11, bytes.slice(11 * width)), "PROTOCOL_STATE", /does not continue at 10/);
    await send(10, bytes.slice(10 * width));
    await passive.endOfGradients();
  });

  test("one more than are sampled", async () => {
    const { bytes, send, passive } = await begun(
      "batched",
      bitmapFrom(instanceCount, (i) => i < 3),
    );
    const width = key.publicKey.ciphertextBytes;
    await expectError(() => send(0, bytes.slice(0, 4 * width)), "PROTOCOL_STATE", /does not continue/);
    await send(0, bytes.slice(0, 3 * width));
    await passive.endOfGradients();
  });

  test("truncated, empty or too many", async () => {
    const { bytes, send } = await begun();
    await expectError(() => send(0, bytes.slice(0, -1)), "PROTOCOL_STATE");
    await expectError(() => send(0, bytes.slice(0, 0)), "PROTOCOL_STATE");
    await expectError(() => send(0, Uint8Array.of(...bytes, ...bytes.slice(0, 64))), "PROTOCOL_STATE");
    await expectError(() => send(0xffffffff, bytes), "PROTOCOL_STATE");
    const half = await begun("unbatched");
    await expectError(() => half.send(0, half.bytes.slice(0, 64)), "PROTOCOL_STATE");
  });

  test.each([
    ["0", () => 0n],
    ["n^2", () => key.publicKey.nSquared],
    ["the largest of its width", () => 2n ** 512n - 1n],
  ])("a ciphertext that is %s", async (_name, value) => {
    const { bytes, send } = await begun();
    const width = key.publicKey.ciphertextBytes;
    bytes.set(littleEndian(value(), width), 3 * width);
    await expectError(() => send(0, bytes), "CIPHERTEXT_RANGE", /ciphertext 3 /);
  });

  test("a ciphertext that shares a factor with n: sums with it would be 0 modulo that factor", async () => {
    const width = key.publicKey.ciphertextBytes;
    for (const value of [key.p, key.q * 7n, key.publicKey.n, key.p * key.p]) {
      const { bytes, send, passive } = await begun();
      bytes.set(littleEndian(value, width), 3 * width);
      await expectError(() => send(0, bytes), "CIPHERTEXT_RANGE", /ciphertext 3 is not invertible/);
      await expectError(() => passive.endOfGradients(), "PROTOCOL_STATE", /of 0 instances arrived/);
    }
  });

  test("a mark that is not encrypted at all", async () => {
    const width = key.publicKey.ciphertextBytes;
    for (const mark of [0n, 1n, 2n ** 40n, key.publicKey.n - 1n]) {
      const { bytes, send } = await begun();
      bytes.set(littleEndian(1n + mark * key.publicKey.n, width), 39 * width);
      await expectError(() => send(0, bytes), "PROTOCOL_STATE", /was not encrypted/);
    }
  });

  test.each([
    ["one for all instances", (at: number) => at - at],
    ["one twice, far apart", (at: number) => (at === 39 ? 0 : at)],
    ["two neighbours", (at: number) => (at === 21 ? 20 : at)],
  ])("the same ciphertext again: %s", async (_name, source) => {
    const { bytes, send, passive } = await begun();
    const width = key.publicKey.ciphertextBytes;
    const repeated = Buffer.concat(
      Array.from({ length: instanceCount }, (_, at) => bytes.slice(source(at) * width, (source(at) + 1) * width)),
    );
    // In two chunks: duplicates are detected across chunks.
    await send(0, repeated.subarray(0, 25 * width));
    await send(25, repeated.subarray(25 * width));
    await expectError(() => passive.endOfGradients(), "PROTOCOL_STATE", /the same ciphertext twice/);
  });

  test("too few: neither the end nor an invalid message is accepted", async () => {
    const { passive, bytes, send } = await begun();
    await send(0, bytes.slice(0, 64));
    await expectError(() => passive.endOfGradients(), "PROTOCOL_STATE", /of 1 instances arrived; 40 /);
    await expectError(() => passive.gradients(Uint8Array.of(255)), "PROTOCOL_STATE", /no PaillierGradients/);
  });
});

describe("the active party rejects an answer", () => {
  async function answered(codec: "batched" | "unbatched" = "batched"): Promise<
    Bench & {
      nodes: SentNodes;
      counts: number[];
      bytes: Uint8Array;
      decode: (bytes: Uint8Array, counts?: number[]) => Promise<Float64Array>;
    }
  > {
    const made = await loaded(bench(key, codec));
    const [{ counts, message }] = await answerOf(made);
    const decode = (ciphertexts: Uint8Array, claimed = counts): Promise<Float64Array> =>
      made.active.sums(made.layout, encodeMessage(PaillierSumsSchema, { ciphertexts }), claimed);
    return { ...made, counts, bytes: sumsOf(message), decode };
  }

  test.each(["batched", "unbatched"] as const)("%s: of the wrong size", async (codec) => {
    const { bytes, decode, counts } = await answered(codec);
    const width = key.publicKey.ciphertextBytes;
    await decode(bytes);
    for (const wrong of [
      bytes.slice(1),
      bytes.slice(width),
      new Uint8Array(0),
      Uint8Array.of(...bytes, ...bytes.slice(0, width)),
    ]) {
      await expectError(() => decode(wrong), "PROTOCOL_STATE", /bytes; \d+ were expected/);
    }
    await expectError(() => decode(bytes, [...counts, ...counts]), "PROTOCOL_STATE", /were expected/);
  });

  test("without ciphertexts", async () => {
    const { active, layout } = await answered();
    await expectError(() => active.sums(layout, new Uint8Array(0), [1]), "PROTOCOL_STATE", /0 bytes/);
  });

  test("with a ciphertext of 0 or n^2", async () => {
    const { bytes, decode } = await answered();
    for (const value of [0n, key.publicKey.nSquared]) {
      const bad = bytes.slice();
      bad.set(littleEndian(value, 64), 64);
      await expectError(() => decode(bad), "CIPHERTEXT_RANGE", /ciphertext 1 /);
    }
  });

  test("with a ciphertext that was tampered with, or made under another key", async () => {
    const made = await answered();
    const { bytes, decode, passive, active, layout, gradients } = made;
    const bad = bytes.slice();
    bad[5] ^= 1;
    await expectError(() => decode(bad), "DECODE_OVERFLOW");
    const other = await generateKey({ bits: keyBits, insecure: true });
    const otherKey = new PaillierActive(portableKernel, other, 1);
    passive.beginRound(made.nodes);
    for await (const { message } of otherKey.gradients(layout, gradients, null, 0)) {
      // Ciphertexts under a larger modulus may be rejected by the range check; others decrypt to noise.
      const outcome = await passive.gradients(message).then(
        () => "taken",
        (error: { code: string }) => error.code,
      );
      if (outcome === "CIPHERTEXT_RANGE") return;
      expect(outcome).toBe("taken");
    }
    const [answer] = await answerOf(made);
    await expectError(() => active.sums(layout, answer.message, answer.counts), "DECODE_OVERFLOW");
  });

  test("with wrong fields; bits above the fields are ignored", async () => {
    const { bytes, decode, counts, layout } = await answered();
    const sums = await decode(bytes);
    const evaluator = portableKernel.publicEvaluator(key.publicKey, { threads: 1 });
    const packed = evaluator.allocate(bytes.length / 64);
    await evaluator.load(new CiphertextVector(bytes, 64), packed, 0);
    const adding = async (value: bigint): Promise<Uint8Array> => {
      const values = Array.from({ length: packed.count }, (_, i) => (i === 0 ? value : 0n));
      const added = await evaluator.encrypt(plaintextsFromBigints(key.publicKey, values));
      return (await evaluator.unload(await evaluator.add(packed, added))).bytes;
    };
    const held = Math.floor((keyBits - 1) / layout.plaintextBits);
    expect(counts.length).toBeGreaterThan(held);
    expect(await decode(await adding(2n ** BigInt(held * layout.plaintextBits)))).toEqual(sums);
    const shown = counts.findIndex((count) => count > 0);
    const padding = 2n ** BigInt((shown + 1) * layout.plaintextBits - 1);
    await expectError(async () => decode(await adding(padding)), "DECODE_OVERFLOW");
  });

  test("whose sums exceed what its counts allow", async () => {
    const { bytes, decode, counts } = await answered();
    await expectError(
      () =>
        decode(
          bytes,
          counts.map((count) => Math.min(count, 1)),
        ),
      "DECODE_OVERFLOW",
    );
  });
});
