/** The two halves of the curve scheme against each other: sums, and the same bytes again. */
import { describe, expect, test } from "vitest";
import {
  answerOf,
  curveBench,
  type CurveBench,
  instanceCount,
  newActive,
  newPassive,
  place,
  roundOf,
  take,
  treeOf,
} from "../../../test/support/curve-bench.ts";
import { expectError } from "../../../test/support/expect-error.ts";
import { collect } from "../../../test/support/streams.ts";
import { codecWith } from "../../base/parameters/parameters.ts";
import { selectCurveKernel } from "../../crypto/curve/select-kernel.ts";
import { bitmapFrom } from "../../wire/bitmap.ts";
import { EmbeddedCrew } from "../blocks/embedded-crew.ts";
import type { SentNodes } from "../candidates/sent-nodes.ts";
import type { GradientChunk, GridFacts } from "../scheme.ts";
import { CurveBlock } from "./block.ts";
import { curve } from "./curve.ts";
import { CurveReplay } from "./replay.ts";

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
const texts = (chunks: readonly GradientChunk[]): string[] => chunks.map(({ message }) => hex(message));
const withoutBases = (chunks: readonly GradientChunk[]): GradientChunk[] =>
  chunks.filter(({ isOfBases }) => isOfBases !== true);

/** The sums of every candidate, by plain addition. */
function plainSums({ gradients }: CurveBench, nodes: SentNodes, node: number): number[] {
  const { plan, bins, positions } = nodes.task(node);
  const firsts = [...plan.binCounts].map((_, f) => plan.binCounts.slice(0, f).reduce((a, b) => a + b, 0));
  const sums = new Array<number>(2 * plan.candidates.length).fill(0);
  for (let chain = 0; chain + 1 < plan.chainOffsets.length; chain++) {
    const summed = [0, 0];
    for (let step = plan.chainOffsets[chain]; step < plan.chainOffsets[chain + 1]; step++) {
      const feature = firsts.findLastIndex((first) => first <= plan.sources[step]);
      for (const position of positions)
        if (firsts[feature] + bins[feature][position] === plan.sources[step])
          gradients.columns.forEach((column, j) => (summed[j] += column[position]));
      if (plan.targets[step] >= 0) sums.splice(2 * plan.targets[step], 2, ...summed);
    }
  }
  return sums;
}

describe("opened sums equal plain sums", () => {
  test("at the root and at a child", async () => {
    const made = curveBench();
    const [active, passive, nodes] = [newActive(), newPassive(), treeOf(made)];
    await passive.setUp(await active.setUp({ layout: made.layout }), made.job);
    await take(passive, nodes, await roundOf(active, made));
    place(
      nodes,
      1,
      2,
      0,
      bitmapFrom(instanceCount, (i) => i % 3 === 0),
    );
    for (const node of [0, 1]) {
      const { message, counts } = await answerOf(passive, nodes, node);
      const expected = plainSums(made, nodes, node).map((sum, i) => (counts[i >> 1] === 0 ? 0 : sum));
      expect([...(await active.sums(made.layout, message, counts))]).toEqual(expected);
    }
    expect(active.counts.encryptions).toBe(2 * instanceCount);
    expect(passive.counts.gradientCiphertexts).toBe(2 * instanceCount);
    expect(active.counts.decryptions).toBe(passive.counts.candidateCiphertexts);
    active.close();
  });

  test("with a sample; bases of all rows come once per attempt", async () => {
    const made = curveBench();
    const [active, passive] = [newActive(), newPassive()];
    await passive.setUp(await active.setUp({ layout: made.layout }), made.job);
    for (const [serial, sample] of [Uint32Array.of(1, 5, 6, 11), Uint32Array.of(0, 1, 2, 9)].entries()) {
      const isSampled = bitmapFrom(instanceCount, (i) => sample.includes(i));
      const nodes = treeOf(made, isSampled);
      const chunks = await roundOf(active, made, serial, sample);
      expect(chunks.filter(({ isOfBases }) => isOfBases === true).length).toBe(serial === 0 ? 1 : 0);
      await take(passive, nodes, chunks);
      const { message, counts } = await answerOf(passive, nodes);
      const sampled = { ...made, gradients: { ...made.gradients, columns: sampledColumns(made, sample) } };
      const expected = plainSums(sampled, nodes, 0).map((sum, i) => (counts[i >> 1] === 0 ? 0 : sum));
      expect([...(await active.sums(made.layout, message, counts))]).toEqual(expected);
    }
  });
});

const sampledColumns = ({ gradients }: CurveBench, sample: Uint32Array): Float64Array[] =>
  gradients.columns.map((column) => Float64Array.from(sample, (instance) => column[instance]));

describe("the same bytes again", () => {
  test("a round that is redone, in this attempt, a later one, and a replay", async () => {
    const made = curveBench();
    const active = newActive();
    const setUp = await active.setUp({ layout: made.layout });
    const chunks = texts(await roundOf(active, made));
    expect(texts(await roundOf(active, made))).toEqual(chunks.slice(1));
    const restarted = newActive();
    expect(hex(await restarted.setUp({ layout: made.layout }))).toBe(hex(setUp));
    expect(texts(await roundOf(restarted, made))).toEqual(chunks);
    const replay = new CurveReplay(newActive());
    expect(await replay.isSetUp(setUp, made.layout)).toBe(true);
    const remade = await collect(replay.remade(made.layout, made.gradients, null, 0));
    expect(remade.map(hex)).toEqual(chunks.slice(1));
  });

  test("an auditor opens an answer with upper bounds of the counts", async () => {
    const made = curveBench();
    const [active, passive, nodes] = [newActive(), newPassive(), treeOf(made)];
    await passive.setUp(await active.setUp({ layout: made.layout }), made.job);
    await take(passive, nodes, await roundOf(active, made));
    const { message, counts } = await answerOf(passive, nodes);
    const replay = new CurveReplay(newActive());
    await replay.active.setUp({ layout: made.layout });
    await collect(replay.active.gradients(made.layout, made.gradients, null, 0));
    const most = counts.map((count) => (count === 0 ? 0 : instanceCount));
    expect([...(await replay.opened(made.layout, message, most))]).toEqual([
      ...(await active.sums(made.layout, message, counts)),
    ]);
    replay.close();
  });

  test.each([1, 5, 7])("an answer, whatever the cut: blocks of %i rows", async (blockRows) => {
    const made = curveBench(0.5);
    const active = newActive();
    const setUp = await active.setUp({ layout: made.layout });
    const chunks = await roundOf(active, made);
    const kernel = selectCurveKernel();
    const crews = [undefined, new EmbeddedCrew((data) => new CurveBlock(kernel, data, 1), blockRows)];
    const answers = [];
    for (const crew of crews) {
      const [passive, nodes] = [newPassive(crew), treeOf(made)];
      await passive.setUp(setUp, made.job);
      await take(passive, nodes, chunks);
      answers.push(hex((await answerOf(passive, nodes)).message));
      // A second round of the same attempt has no bases of its own.
      await take(passive, nodes, withoutBases(chunks));
      answers.push(hex((await answerOf(passive, nodes)).message));
      passive.close();
    }
    expect(new Set(answers).size).toBe(1);
  });
});

describe("the resolution of a job", () => {
  const facts: GridFacts = {
    rows: 30_000,
    nodesMax: 1,
    outputsPerTree: 1,
    outputs: 1,
    answerNoise: 0,
    maxDepth: 3,
    maxLeaves: 0,
  };
  const bits = (rows: number, asked = 24): number =>
    curve.codecFor(codecWith({ resolution_bits: asked }), { ...facts, rows }).resolution_bits;

  test.each([
    [30_000, 16],
    [65_536, 16],
    [65_537, 15],
    [1_000_000, 12],
    [2 ** 24, 8],
    [2 ** 27, 8],
  ])("%i rows: %i bits", (rows, expected) => {
    expect(bits(rows)).toBe(expected);
    expect(bits(rows, 5)).toBe(5);
  });

  test("more rows, and the paper's layout, are refused", async () => {
    await expectError(async () => bits(2 ** 27 + 1), "LAYOUT_OVERFLOW", /cannot find sums/);
    const paper = codecWith({ layout: "paper" });
    await expectError(async () => curve.codecFor(paper, facts), "USAGE", /layout auto/);
  });
});
