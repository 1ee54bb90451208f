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
import { binGoesLeft, candidateCount } from "../../gbdt/split/candidate.ts";
import { noMinimums } from "../../gbdt/split/offered-candidates.ts";
import { bigEndianBytes } from "../../wire/big-endian.ts";
import { bitmapFrom, partition } from "../../wire/bitmap.ts";
import { decodeMessage, encodeMessage } from "../../wire/scheme-message.ts";
import {
  PaillierGradientsSchema,
  PaillierSetUpSchema,
  PaillierSumsSchema,
} from "../../wire/generated/tandem/v1/paillier_pb.ts";
import { NodeMembersSchema } from "../../wire/generated/tandem/v1/tandem_pb.ts";
import { mostFrequentBins } from "../candidates/candidate-plan.ts";
import { type TreeJob, TreeNodes } from "../candidates/tree-nodes.ts";
import { TreeSample } from "../candidates/tree-sample.ts";
import { gradientLayout } from "../../codec/gradient-layout.ts";
import { PaillierActive } from "./active.ts";
import { PaillierPassive } from "./passive.ts";
import type { PassiveSchemeJob } from "../scheme.ts";
import { messageBytesMax } from "../../wire/version.ts";

const instanceCount = 40;
const keyBits = 256;
const random = new SeededRandom("paillier scheme");
let key: PrivateKey;
beforeAll(async () => {
  key = await generateKey({ bits: keyBits, insecure: true });
});

function someFeatures(): BinnedFeature[] {
  const column = (missingFraction: number): Float32Array =>
    Float32Array.from({ length: instanceCount }, () =>
      random.uniform() < missingFraction ? Number.NaN : random.below(6),
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
  readonly trees: TreeJob;
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
  const instances = Uint32Array.from({ length: instanceCount }, (_, i) => i);
  const trees = {
    features,
    instances,
    maxDepth: 3,
    maxLeaves: 0,
    permutationSecret: new Uint8Array(32).fill(5),
    skippedBins: mostFrequentBins(features, instances),
    sampler: null,
    minimums: noMinimums,
  };
  const job = {
    parameters: { keyBits: privateKey.publicKey.bits },
    instanceCount,
    candidateCount: features.reduce((sum, feature) => sum + candidateCount(feature), 0),
    nodesAskedMax: 4,
    treesPerRound: 1,
  };
  return {
    active,
    passive: new PaillierPassive(portableKernel, 1),
    features,
    layout,
    gradients: quantise(layout, [g, h]),
    job,
    trees,
  };
}

function treeOf({ trees }: Bench, tree = 0, sampled: Uint8Array = new Uint8Array(0)): TreeNodes {
  return new TreeNodes(trees, tree, tree, new TreeSample(trees.features, instanceCount, sampled));
}

async function loaded(made: Bench, tree = 0): Promise<Bench & { readonly nodes: TreeNodes }> {
  const { active, passive, layout, gradients, job } = made;
  const nodes = treeOf(made, tree);
  passive.setUp(active.setUp(layout), job);
  passive.beginRound(nodes);
  for await (const { message } of active.gradients(layout, gradients, null)) await passive.gradients(message);
  passive.endOfGradients();
  return { ...made, nodes };
}

/** A node's sums in pieces, with the counts of each. */
async function answerOf(
  { passive, nodes }: { readonly passive: PaillierPassive; readonly nodes: TreeNodes },
  node = 0,
): Promise<{ readonly counts: number[]; readonly message: Uint8Array }[]> {
  const task = nodes.task(node);
  let first = 0;
  const pieces = [];
  for (const { candidateCount: count, message } of await collect(passive.sums(task))) {
    pieces.push({ counts: [...task.counts.subarray(first, first + count)], message });
    first += count;
  }
  return pieces;
}

function place(nodes: TreeNodes, node: number, sibling: number, parent: number, members: Uint8Array): void {
  nodes.place(node, create(NodeMembersSchema, { parent, sibling, members }));
}

/** Checks a node's answer against plain sums over `members`. */
async function checkAnswer(
  { active, nodes, features, layout, gradients }: Bench & { readonly nodes: TreeNodes },
  pieces: Awaited<ReturnType<typeof answerOf>>,
  members: Uint32Array,
): Promise<number> {
  let at = 0;
  for (const { counts, message } of pieces) {
    const sums = await active.sums(layout, message, counts);
    counts.forEach((count, i) => {
      const { feature, ...candidate } = nodes.candidateAt(0, at + i);
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
    const all = Uint32Array.from({ length: instanceCount }, (_, i) => i);
    expect(await checkAnswer(made, await answerOf(made), all)).toBe(made.job.candidateCount);

    const second = await loaded(made, 1);
    const { nodes } = second;
    const members = bitmapFrom(instanceCount, (i) => i % 3 === 0);
    const { inside, outside } = partition(all, members);
    place(nodes, 2, 1, 0, members);
    await checkAnswer(second, await answerOf(second, 2), inside);
    expect(nodes.members(1)).toEqual(outside);
    place(
      nodes,
      3,
      4,
      1,
      bitmapFrom(outside.length, () => false),
    );
    await checkAnswer(second, await answerOf(second, 3), new Uint32Array(0));
    expect(nodes.members(4)).toEqual(outside);
  });

  test("one encryption per plaintext; every gradient and candidate ciphertext is counted", async () => {
    const made = await loaded(bench(codec));
    const { active, passive, layout } = made;
    const perInstance = codec === "batched" ? 1 : 2;
    expect(active.counts.encryptions).toBe(instanceCount * perInstance);
    expect(passive.counts.gradientCiphertexts).toBe(instanceCount * perInstance);
    const [answer] = await answerOf(made);
    await active.sums(layout, answer.message, answer.counts);
    expect(active.counts.decryptions).toBe(passive.counts.candidateCiphertexts);
    expect(passive.counts.additions).toBeGreaterThan(0);
  });
});

test("the order of candidates changes from tree to tree, and the ciphertexts of equal sums never repeat", async () => {
  const made = await loaded(bench());
  const orderOf = (nodes: TreeNodes): string =>
    Array.from({ length: 10 }, (_, i) => nodes.candidateAt(0, i).rank).join();
  const [first] = await answerOf(made);
  const [again] = await answerOf(made);
  expect(again.counts).toEqual(first.counts);
  expect(sumsOf(again.message)).not.toEqual(sumsOf(first.message));
  const order = orderOf(made.nodes);
  expect(orderOf(treeOf(made, 1))).not.toBe(order);
  expect(orderOf(treeOf(made, 0))).toBe(order);
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
  const pieces = await answerOf(made);
  expect(pieces.length).toBeGreaterThan(1);
  for (const { counts, message } of pieces) expect(message.length + 5 * counts.length).toBeLessThan(messageBytesMax);
  const all = Uint32Array.from({ length: instanceCount }, (_, i) => i);
  expect(await checkAnswer(made, pieces, all)).toBe(3 * 99);
});

function sumsOf(message: Uint8Array): Uint8Array {
  return decodeMessage(PaillierSumsSchema, message).ciphertexts;
}

function littleEndian(value: bigint, sizeBytes: number): Uint8Array {
  return Uint8Array.from(Buffer.from(value.toString(16).padStart(2 * sizeBytes, "0"), "hex")).reverse();
}

describe("a passive party refuses a set-up", () => {
  const setUpWith = (change: {
    modulus?: Uint8Array;
    ciphertextsPerInstance?: number;
    plaintextBits?: number;
  }): (() => void) => {
    const { passive, job } = bench();
    const good = { modulus: bigEndianBytes(key.publicKey.n), ciphertextsPerInstance: 1, plaintextBits: 70 };
    return () => passive.setUp(encodeMessage(PaillierSetUpSchema, { ...good, ...change }), job);
  };

  test("the good one passes", () => expect(setUpWith({})).not.toThrow());

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
    const made = bench();
    const { passive, job } = made;
    await expectError(() => passive.setUp(Uint8Array.of(255, 255), job), "PROTOCOL_STATE", /no PaillierSetUp/);
    await expectError(() => passive.beginRound(treeOf(made)), "PROTOCOL_STATE", /not set up/);
    await expectError(() => passive.endOfGradients(), "PROTOCOL_STATE", /no tree/);
  });
});

describe("a passive party refuses gradients", () => {
  async function begun(
    codec: "batched" | "unbatched" = "batched",
    sampled: Uint8Array = new Uint8Array(0),
  ): Promise<{
    passive: PaillierPassive;
    bytes: Uint8Array;
    send: (firstInstance: number, ciphertexts: Uint8Array) => Promise<number>;
  }> {
    const made = bench(codec);
    const { active, passive, layout, gradients, job } = made;
    passive.setUp(active.setUp(layout), job);
    passive.beginRound(treeOf(made, 0, sampled));
    const [{ message }] = await collect(active.gradients(layout, gradients, null));
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
    expect(() => passive.endOfGradients()).not.toThrow();
  });

  test("one more than are sampled", async () => {
    const { bytes, send, passive } = await begun(
      "batched",
      bitmapFrom(instanceCount, (i) => i < 3),
    );
    const width = key.publicKey.ciphertextBytes;
    await expectError(() => send(0, bytes.slice(0, 4 * width)), "PROTOCOL_STATE", /does not continue/);
    await send(0, bytes.slice(0, 3 * width));
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

  test("too few: the end is not accepted, nor is nonsense", async () => {
    const { passive, bytes, send } = await begun();
    await send(0, bytes.slice(0, 64));
    await expectError(() => passive.endOfGradients(), "PROTOCOL_STATE", /of 1 instances arrived; 40 /);
    await expectError(() => passive.gradients(Uint8Array.of(255)), "PROTOCOL_STATE", /no PaillierGradients/);
  });
});

describe("the active party refuses an answer", () => {
  async function answered(codec: "batched" | "unbatched" = "batched"): Promise<
    Bench & {
      nodes: TreeNodes;
      counts: number[];
      bytes: Uint8Array;
      decode: (bytes: Uint8Array, counts?: number[]) => Promise<Float64Array>;
    }
  > {
    const made = await loaded(bench(codec));
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
    const stranger = new PaillierActive(portableKernel, other, 1);
    passive.beginRound(made.nodes);
    for await (const { message } of stranger.gradients(layout, gradients, null)) {
      // Ciphertexts under a larger modulus may be refused at the door, others decrypt to noise.
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

test("obfuscators made ahead seal the same plaintexts, each once; what is missing is made at once", async () => {
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
    const chunks = await collect(active.gradients(layout, gradients, null));
    expect(active.obfuscatorsReady).toBe(round === 2 ? layout.plaintexts.length : 0);
    const ciphertexts = Buffer.concat(
      chunks.map(({ message }) => decodeMessage(PaillierGradientsSchema, message).ciphertexts),
    );
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
