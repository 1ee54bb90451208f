/** The two halves of the Paillier scheme against each other. */
import { beforeAll, describe, expect, test } from "vitest";
import { collect } from "../../../test/support/streams.ts";
import { allShortcuts } from "../shortcuts.ts";
import { CiphertextVector, generateKey, type PrivateKey } from "../../crypto/paillier/index.ts";
import { portableKernel } from "../../crypto/paillier/portable-kernel.ts";
import type { BinnedFeature } from "../../gbdt/split/binning.ts";
import { binGoesLeft } from "../../gbdt/split/candidate.ts";
import { bitmapFrom, partition } from "../../wire/bitmap.ts";
import { decodeMessage } from "../../wire/scheme-message.ts";
import { PaillierGradientsSchema } from "../../wire/generated/tandem/v1/paillier_pb.ts";
import type { SentNodes } from "../candidates/sent-nodes.ts";
import { PaillierActive } from "./active.ts";
import { messageBytesMax } from "../../wire/version.ts";
import {
  answerOf,
  type Bench,
  bench,
  instanceCount,
  keyBits,
  loaded,
  place,
  random,
  sumsOf,
  treeOf,
} from "../../../test/support/paillier-bench.ts";

let key: PrivateKey;
beforeAll(async () => {
  key = await generateKey({ bits: keyBits, insecure: true });
});

/** Compares a node's answer with plain sums over `members`. */
async function checkAnswer(
  { active, nodes, features, layout, gradients }: Bench & { readonly nodes: SentNodes },
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
    const made = await loaded(bench(key, codec));
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
    const made = await loaded(bench(key, codec));
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

test("the order of candidates changes from tree to tree, and ciphertexts of equal sums differ", async () => {
  const made = await loaded(bench(key));
  const orderOf = (nodes: SentNodes): string =>
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
  const made = await loaded(bench(short, codec, [wide(0), wide(1), wide(2)]));
  const pieces = await answerOf(made);
  expect(pieces.length).toBeGreaterThan(1);
  for (const { counts, message } of pieces) expect(message.length + 5 * counts.length).toBeLessThan(messageBytesMax);
  const all = Uint32Array.from({ length: instanceCount }, (_, i) => i);
  expect(await checkAnswer(made, pieces, all)).toBe(3 * 99);
});

test("precomputed obfuscators encrypt the same plaintexts, each once; others are made on demand", async () => {
  const { layout, gradients } = bench(key, "unbatched");
  const active = new PaillierActive(portableKernel, key, 1, allShortcuts, async () => {});
  const evaluator = portableKernel.privateEvaluator(key, { threads: 1 });
  const width = key.publicKey.ciphertextBytes;
  const seen = new Set<string>();
  let expected: string | null = null;
  for (let round = 0; round < 3; round++) {
    const wanted = [0, instanceCount, 1][round]; // none precomputed, all precomputed, too few precomputed
    if (wanted > 0) active.expectRound(layout, wanted, round);
    while (active.obfuscatorsReady < wanted * layout.plaintexts.length)
      await new Promise((resolve) => setImmediate(resolve));
    const chunks = await collect(active.gradients(layout, gradients, null, round));
    expect(active.obfuscatorsReady).toBe(0);
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
