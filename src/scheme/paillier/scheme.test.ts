/** The two halves of the Paillier scheme against each other, and each of them against a peer that sends nonsense. */
import { create } from "@bufbuild/protobuf";
import { beforeAll, describe, expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { collect } from "../../../test/support/streams.ts";
import { codecParameters, resolveParameters, speedParameters } from "../../base/parameters.ts";
import type { QuantisedGradients } from "../../base/quantised-gradients.ts";
import { SeededRandom } from "../../base/random.ts";
import { quantise } from "../../codec/batch-codec.ts";
import type { GradientLayout } from "../../codec/layout.ts";
import { CiphertextVector, generateKey, plaintextsFromBigints, type PrivateKey } from "../../crypto/paillier/index.ts";
import { portableKernel } from "../../crypto/paillier/portable-kernel.ts";
import { type BinnedFeature, binFeature } from "../../gbdt/split/binning.ts";
import { binGoesLeft } from "../../gbdt/split/candidate.ts";
import { noMinimums } from "../../gbdt/split/offered-candidates.ts";
import { bigEndianBytes } from "../../wire/big-endian.ts";
import { bitmapFrom, partition } from "../../wire/bitmap.ts";
import {
  PaillierGradientsSchema,
  PaillierNodeSchema,
  PaillierSetUpSchema,
  PaillierSumsSchema,
} from "../../wire/generated/tandem/v1/tandem_pb.ts";
import { gradientLayout } from "../../codec/gradient-layout.ts";
import { PaillierActive } from "./active.ts";
import { PaillierPassive } from "./passive.ts";
import type { NodeAnswer, PassiveSchemeJob, SchemeAnswer, SchemeTree } from "../scheme.ts";
import { messageBytesMax } from "../../wire/version.ts";

const instanceCount = 40;
const keyBits = 256;
const random = new SeededRandom("paillier scheme");
let key: PrivateKey;
beforeAll(async () => {
  key = await generateKey({ bits: keyBits, insecure: true });
});

function someFeatures(): BinnedFeature[] {
  const column = (missingShare: number): Float32Array =>
    Float32Array.from({ length: instanceCount }, () =>
      random.uniform() < missingShare ? Number.NaN : random.below(6),
    );
  return [
    binFeature("plain", column(0), 8),
    binFeature("holes", column(0.3), 8),
    binFeature("constant", new Float32Array(instanceCount), 8),
    binFeature("empty", new Float32Array(instanceCount).fill(Number.NaN), 8),
  ];
}

interface Bench {
  readonly active: PaillierActive;
  readonly passive: PaillierPassive;
  readonly features: readonly BinnedFeature[];
  readonly layout: GradientLayout;
  readonly gradients: QuantisedGradients;
  readonly job: PassiveSchemeJob;
}

function bench(codec: "batched" | "unbatched" = "batched", features = someFeatures(), privateKey = key): Bench {
  const active = new PaillierActive(portableKernel, privateKey, 1);
  const g = Float64Array.from({ length: instanceCount }, () => random.uniform() * 2 - 1);
  const h = g.map((value) => (1 - value * value) / 4);
  const layout = gradientLayout(resolveParameters(codecParameters, { codec }), active.plaintextBitsMax, {
    values: [g, h],
    bounds: [
      { min: -1, max: 1 },
      { min: 0, max: 0.25 },
    ],
  });
  const permutationSecret = new Uint8Array(32).fill(5);
  const job = {
    features,
    instanceCount,
    keyBits: privateKey.publicKey.bits,
    maxDepth: 3,
    maxLeaves: 0,
    permutationSecret,
    treesPerRound: 1,
    sampler: null,
    minimums: noMinimums,
  };
  return {
    active,
    passive: new PaillierPassive(portableKernel, 1),
    features,
    layout,
    gradients: quantise(layout, [g, h]),
    job,
  };
}

async function loaded(made: Bench, tree = 0): Promise<Bench> {
  const { active, passive, layout, gradients, job } = made;
  passive.setUp(active.setUp(layout), job);
  passive.beginTree(tree);
  for await (const chunk of active.tree(layout, gradients, null)) await passive.tree(chunk);
  passive.endOfGradients();
  return made;
}

/** Checks a node's answer against plain sums over `members`. */
async function checkAnswer(
  { active, passive, features, layout, gradients }: Bench,
  pieces: readonly NodeAnswer[],
  members: Uint32Array,
): Promise<number> {
  let at = 0;
  for (const { firstCandidate, counts, scheme } of pieces) {
    expect(firstCandidate).toBe(at);
    const sums = await active.sums(layout, scheme, [...counts]);
    counts.forEach((count, i) => {
      const { feature, ...candidate } = passive.candidateAt(0, at + i);
      const sideOf = (isLeft: boolean): Uint32Array =>
        members.filter(
          (instance) => binGoesLeft(features[feature], candidate, features[feature].bins[instance]) === isLeft,
        );
      const found = { count, sums: [...sums.subarray(2 * i, 2 * i + 2)] };
      const sides = [sideOf(true), sideOf(false)].map((side) => ({
        count: side.length,
        sums: gradients.columns.map((column) => side.reduce((sum, instance) => sum + column[instance], 0)),
      }));
      expect(sides).toContainEqual(found);
    });
    at += counts.length;
  }
  return at;
}

describe.each(["batched", "unbatched"] as const)("%s: decoded sums equal plain sums", (codec) => {
  test("at the root, at a child, and at the child's sibling", async () => {
    const made = await loaded(bench(codec));
    const { active, passive, job } = made;
    const all = Uint32Array.from({ length: instanceCount }, (_, i) => i);
    const root = await collect(passive.node(0, active.node({ node: 0, origin: null })));
    const candidates = await checkAnswer(made, root, all);
    expect(candidates).toBe(passive.setUp(active.setUp(made.layout), job));

    await loaded(made, 1);
    const members = bitmapFrom(instanceCount, (i) => i % 3 === 0);
    const { inside, outside } = partition(all, members);
    const child = await collect(passive.node(2, active.node({ node: 2, origin: { parent: 0, sibling: 1, members } })));
    await checkAnswer(made, child, inside);
    expect(passive.members(1)).toEqual(outside);
    const none = bitmapFrom(outside.length, () => false);
    const grandchild = await collect(
      passive.node(3, active.node({ node: 3, origin: { parent: 1, sibling: 4, members: none } })),
    );
    await checkAnswer(made, grandchild, new Uint32Array(0));
    expect(passive.members(4)).toEqual(outside);
  });

  test("counts of operations: one encryption per plaintext, every gradient and candidate ciphertext counted", async () => {
    const { active, passive, layout } = await loaded(bench(codec));
    const perInstance = codec === "batched" ? 1 : 2;
    expect(active.counts.encryptions).toBe(instanceCount * perInstance);
    expect(passive.counts.gradientCiphertexts).toBe(instanceCount * perInstance);
    const [answer] = await collect(passive.node(0, active.node({ node: 0, origin: null })));
    await active.sums(layout, answer.scheme, [...answer.counts]);
    expect(active.counts.decryptions).toBe(passive.counts.candidateCiphertexts);
    expect(passive.counts.additions).toBeGreaterThan(0);
  });
});

test("the order of candidates changes from tree to tree, and the ciphertexts of equal sums never repeat", async () => {
  const made = await loaded(bench());
  const { active, passive } = made;
  const orderOf = (): string => Array.from({ length: 10 }, (_, i) => passive.candidateAt(0, i).rank).join();
  const [first] = await collect(passive.node(0, active.node({ node: 0, origin: null })));
  const [again] = await collect(passive.node(0, active.node({ node: 0, origin: null })));
  expect(again.counts).toEqual(first.counts);
  expect(ciphertextsOf(again.scheme)).not.toEqual(ciphertextsOf(first.scheme));
  const order = orderOf();
  passive.beginTree(1);
  expect(orderOf()).not.toBe(order);
  passive.beginTree(0);
  expect(orderOf()).toBe(order);
});

/** Long answers come in pieces of whole ciphertexts, with either codec. */
test.each(["batched", "unbatched"] as const)("%s: an answer in several pieces", async (codec) => {
  const short = await generateKey({ bits: 128, insecure: true });
  const wide = (f: number): BinnedFeature => {
    const bins = Uint16Array.from({ length: instanceCount }, () => random.below(51));
    return {
      name: `f${f}`,
      thresholds: Float32Array.from({ length: 50 }, (_, i) => i),
      lowest: -1,
      binCount: 50,
      hasMissing: true,
      bins,
    };
  };
  const made = await loaded(bench(codec, [wide(0), wide(1), wide(2)], short));
  const pieces = await collect(made.passive.node(0, made.active.node({ node: 0, origin: null })));
  expect(pieces.length).toBeGreaterThan(1);
  for (const { counts, scheme } of pieces)
    expect(ciphertextsOf(scheme).length + 5 * counts.length).toBeLessThan(messageBytesMax);
  const all = Uint32Array.from({ length: instanceCount }, (_, i) => i);
  expect(await checkAnswer(made, pieces, all)).toBe(3 * 99);
});

function ciphertextsOf(scheme: SchemeAnswer | SchemeTree): Uint8Array {
  if (scheme.case !== "paillier") throw new Error("no ciphertexts");
  return scheme.value.ciphertexts;
}

function littleEndian(value: bigint, sizeBytes: number): Uint8Array {
  return Uint8Array.from(Buffer.from(value.toString(16).padStart(2 * sizeBytes, "0"), "hex")).reverse();
}

describe("a passive party refuses a set-up", () => {
  const setUpWith = (change: {
    modulus?: Uint8Array;
    ciphertextsPerInstance?: number;
    plaintextBits?: number;
  }): (() => number) => {
    const { passive, job } = bench();
    const good = { modulus: bigEndianBytes(key.publicKey.n), ciphertextsPerInstance: 1, plaintextBits: 70 };
    return () => passive.setUp({ case: "paillier", value: create(PaillierSetUpSchema, { ...good, ...change }) }, job);
  };

  test("the good one passes", () => expect(setUpWith({})()).toBeGreaterThan(0));

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

  test("a size that no key has, although both sides agreed on it: KEY_FORMAT, not an assertion", async () => {
    const { passive, job } = bench();
    const value = create(PaillierSetUpSchema, {
      modulus: bigEndianBytes(2n ** 126n + 1n),
      ciphertextsPerInstance: 1,
      plaintextBits: 70,
    });
    await expectError(
      () => passive.setUp({ case: "paillier", value }, { ...job, keyBits: 127 }),
      "KEY_FORMAT",
      /even number of bits/,
    );
  });

  test.each([
    { ciphertextsPerInstance: 0 },
    { ciphertextsPerInstance: 1025 },
    { ciphertextsPerInstance: 0xffffffff },
    { plaintextBits: 0 },
    { plaintextBits: keyBits },
    { plaintextBits: 0xffffffff },
  ])(
    "impossible numbers: %o",
    async (change) => void (await expectError(setUpWith(change), "PROTOCOL_STATE", /impossible layout/)),
  );

  test("no scheme at all", async () => {
    const { passive, job } = bench();
    await expectError(() => passive.setUp({ case: undefined }, job), "PROTOCOL_STATE", /Paillier/);
    await expectError(() => passive.beginTree(0), "PROTOCOL_STATE", /not set up/);
    await expectError(() => passive.members(0), "PROTOCOL_STATE", /no tree/);
  });
});

describe("a passive party refuses gradients", () => {
  async function begun(codec: "batched" | "unbatched" = "batched"): Promise<{
    passive: PaillierPassive;
    bytes: Uint8Array;
    send: (firstInstance: number, ciphertexts: Uint8Array) => Promise<void>;
  }> {
    const { active, passive, layout, gradients, job } = bench(codec);
    passive.setUp(active.setUp(layout), job);
    passive.beginTree(0);
    const [chunk] = await collect(active.tree(layout, gradients, null));
    const send = (firstInstance: number, ciphertexts: Uint8Array): Promise<void> =>
      passive.tree({ case: "paillier", value: create(PaillierGradientsSchema, { firstInstance, ciphertexts }) });
    return { passive, bytes: ciphertextsOf(chunk), send };
  }

  test("chunks out of order, repeated, or with a gap", async () => {
    const { bytes, send, passive } = await begun();
    const width = key.publicKey.ciphertextBytes;
    await expectError(() => send(1, bytes.slice(width)), "PROTOCOL_STATE", /instance 1 does not continue at 0/);
    await send(0, bytes.slice(0, 10 * width));
    await expectError(() => send(0, bytes.slice(0, 10 * width)), "PROTOCOL_STATE", /does not continue at 10/);
    await expectError(() => send(11, bytes.slice(11 * width)), "PROTOCOL_STATE", /does not continue at 10/);
    await send(10, bytes.slice(10 * width));
    expect(() => passive.endOfGradients()).not.toThrow();
  });

  test("a second sample, nobody in it, or not of this many instances", async () => {
    const { bytes, passive } = await begun();
    const send = (firstInstance: number, ciphertexts: Uint8Array, sampled: Uint8Array): Promise<void> =>
      passive.tree({
        case: "paillier",
        value: create(PaillierGradientsSchema, { firstInstance, ciphertexts, sampled }),
      });
    const width = key.publicKey.ciphertextBytes;
    const three = bitmapFrom(instanceCount, (i) => i < 3);
    await expectError(
      () => send(0, bytes.slice(0, width), new Uint8Array(three.length)),
      "PROTOCOL_STATE",
      /without instances/,
    );
    await expectError(() => send(0, bytes.slice(0, width), new Uint8Array(1)), "PROTOCOL_STATE", /bitmap/);
    await expectError(() => send(0, bytes.slice(0, 4 * width), three), "PROTOCOL_STATE", /does not continue/); // one more than sampled
    await expectError(() => send(0, bytes.slice(0, 2 * width), three), "PROTOCOL_STATE", /a second sample/);
    await send(0, bytes.slice(0, 3 * width), new Uint8Array(0));
    expect(() => passive.endOfGradients()).not.toThrow();
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

  test("too few: neither the end nor a node is accepted", async () => {
    const { passive, bytes, send } = await begun();
    await send(0, bytes.slice(0, 64));
    await expectError(() => passive.endOfGradients(), "PROTOCOL_STATE", /of 1 instances arrived; 40 /);
    const root = { case: "paillier", value: create(PaillierNodeSchema, { isRoot: true }) } as const;
    await expectError(() => collect(passive.node(0, root)), "PROTOCOL_STATE", /of 1 instances arrived; 40 /);
    await expectError(() => passive.tree({ case: undefined }), "PROTOCOL_STATE", /Paillier/);
  });
});

describe("a passive party refuses a node", () => {
  const origin = { isRoot: false, parent: 0, sibling: 2, members: new Uint8Array(5) };
  test.each([
    ["an unknown parent", 3, { ...origin, parent: 1 }, /node 1 is not known/],
    ["a bitmap that is too short", 1, { ...origin, members: new Uint8Array(4) }, /4 bytes; 5 /],
    ["a bitmap that is too long", 1, { ...origin, members: new Uint8Array(6) }, /6 bytes; 5 /],
    ["another root", 7, { isRoot: true }, /node 7 cannot be a root/],
    ["a node that is its own sibling", 2, origin, /cannot be the children/],
    ["a node that would replace the root", 0, origin, /cannot be the children/],
    ["a sibling that would replace the root", 1, { ...origin, sibling: 0 }, /cannot be the children/],
    ["more nodes than max_depth allows", 15, origin, /cannot be the children/],
    ["a sibling beyond max_depth", 1, { ...origin, sibling: 0xffffffff }, /cannot be the children/],
  ] as const)("%s", async (_name, node, fields, message) => {
    const { passive } = await loaded(bench());
    await expectError(
      () => collect(passive.node(node, { case: "paillier", value: create(PaillierNodeSchema, fields) })),
      "PROTOCOL_STATE",
      message,
    );
    expect(passive.members(0).length).toBe(instanceCount);
  });

  test("no members message, unknown members, and a candidate that does not exist", async () => {
    const { passive, active, job, layout } = await loaded(bench());
    await expectError(() => collect(passive.node(0, { case: undefined })), "PROTOCOL_STATE", /Paillier/);
    await expectError(() => passive.members(5), "PROTOCOL_STATE", /node 5 is not known/);
    const count = new PaillierPassive(portableKernel, 1).setUp(active.setUp(layout), job);
    expect(passive.candidateAt(0, count - 1).rank).toBeLessThan(count);
    for (const position of [count, 0xffffffff])
      await expectError(
        () => passive.candidateAt(0, position),
        "PROTOCOL_STATE",
        new RegExp(`candidate ${position} does not exist`),
      );
  });
});

describe("the active party refuses an answer", () => {
  async function answered(codec: "batched" | "unbatched" = "batched"): Promise<
    Bench & {
      counts: number[];
      bytes: Uint8Array;
      decode: (bytes: Uint8Array, counts?: number[]) => Promise<Float64Array>;
    }
  > {
    const made = await loaded(bench(codec));
    const [{ counts, scheme }] = await collect(made.passive.node(0, made.active.node({ node: 0, origin: null })));
    const decode = (ciphertexts: Uint8Array, claimed = [...counts]): Promise<Float64Array> =>
      made.active.sums(made.layout, { case: "paillier", value: create(PaillierSumsSchema, { ciphertexts }) }, claimed);
    return { ...made, counts: [...counts], bytes: ciphertextsOf(scheme), decode };
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
    await expectError(() => active.sums(layout, { case: undefined }, [1]), "PROTOCOL_STATE", /Paillier/);
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
    const { bytes, decode, passive, active, layout, gradients } = await answered();
    const bad = bytes.slice();
    bad[5] ^= 1;
    await expectError(() => decode(bad), "DECODE_OVERFLOW");
    const other = await generateKey({ bits: keyBits, insecure: true });
    const stranger = new PaillierActive(portableKernel, other, 1);
    await passive.beginTree(0);
    for await (const chunk of stranger.tree(layout, gradients, null)) {
      // Ciphertexts under a larger modulus may be refused at the door, others decrypt to noise.
      const outcome = await passive.tree(chunk).then(
        () => "taken",
        (error: { code: string }) => error.code,
      );
      if (outcome === "CIPHERTEXT_RANGE") return;
      expect(outcome).toBe("taken");
    }
    const [answer] = await collect(passive.node(0, active.node({ node: 0, origin: null })));
    await expectError(() => active.sums(layout, answer.scheme, [...answer.counts]), "DECODE_OVERFLOW");
  });

  test("with anything above the packed sums, although the sums themselves are right", async () => {
    const { bytes, decode } = await answered();
    const evaluator = portableKernel.publicEvaluator(key.publicKey, { threads: 1 });
    const sums = evaluator.allocate(1);
    await evaluator.load(new CiphertextVector(bytes.slice(0, 64), 64), sums, 0);
    const high = await evaluator.encrypt(plaintextsFromBigints(key.publicKey, [2n ** 250n]));
    const bad = bytes.slice();
    bad.set((await evaluator.unload(await evaluator.add(sums, high))).bytes);
    await expectError(() => decode(bad), "DECODE_OVERFLOW", /bits beyond its layout/);
  });

  test("whose sums are larger than its counts can make", async () => {
    const { bytes, decode, counts } = await answered();
    await expectError(
      () =>
        decode(
          bytes,
          counts.map(() => 0),
        ),
      "DECODE_OVERFLOW",
    );
  });
});

test("gradients sealed with obfuscators made ahead: the same plaintexts, every obfuscator used once, the rest made at once", async () => {
  const { layout, gradients } = bench("unbatched");
  const active = new PaillierActive(portableKernel, key, 1, resolveParameters(speedParameters, {}), async () => {});
  const evaluator = portableKernel.privateEvaluator(key, { threads: 1 });
  const width = key.publicKey.ciphertextBytes;
  const seen = new Set<string>();
  let expected: string | null = null;
  for (let round = 0; round < 3; round++) {
    const wanted = [0, instanceCount, 1][round]; // nothing ahead, everything ahead, too little ahead
    if (wanted > 0) active.expectTree(layout, wanted);
    while (active.obfuscatorsReady < wanted * layout.plaintexts.length)
      await new Promise((resolve) => setImmediate(resolve));
    const chunks = await collect(active.tree(layout, gradients, null));
    expect(active.obfuscatorsReady).toBe(round === 2 ? layout.plaintexts.length : 0);
    const ciphertexts = Buffer.concat(chunks.map(({ value }) => value?.ciphertexts ?? new Uint8Array(0)));
    for (let at = 0; at < ciphertexts.length; at += width)
      seen.add(ciphertexts.subarray(at, at + width).toString("hex"));
    const plain = Buffer.from((await evaluator.decrypt(new CiphertextVector(ciphertexts, width))).bytes).toString(
      "hex",
    );
    expected ??= plain;
    expect(plain).toBe(expected);
  }
  expect(seen.size).toBe(3 * instanceCount * layout.plaintexts.length);
});
