/** Node membership messages of a tree from a peer that may deviate. */
import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { binFeature, type BinnedFeature } from "../../gbdt/split/binning.ts";
import { binCategories } from "../../gbdt/split/category-binning.ts";
import { toNoiseScale } from "../../base/noise/noise-scale.ts";
import { noMinimums } from "../../gbdt/split/offered-candidates.ts";
import { NodeMembersSchema } from "../../wire/generated/tandem/v1/tandem_pb.ts";
import { bitmapFrom } from "../../wire/bitmap.ts";
import { SentNodes } from "./sent-nodes.ts";
import { TreeSample } from "./tree-sample.ts";

const instanceCount = 40;
const features = [
  binFeature(
    "a",
    Float32Array.from({ length: instanceCount }, (_, i) => i % 5),
    8,
  ),
  binFeature(
    "b",
    Float32Array.from({ length: instanceCount }, (_, i) => (i % 7 === 0 ? Number.NaN : i % 3)),
    8,
  ),
];
/** Five bins without, and three with missing values. */
const candidateCount = 4 + 5;

function treeNodes(sampled: Uint8Array = new Uint8Array(0)): SentNodes {
  const instances = Uint32Array.from({ length: instanceCount }, (_, i) => i);
  const job = {
    features,
    instances,
    maxDepth: 3,
    maxLeaves: 0,
    permutationSecret: new Uint8Array(32).fill(5),
    skippedBins: Int32Array.of(-1, -1),
    sampler: null,
    minimums: noMinimums,
  };
  return new SentNodes(job, 0, 0, new TreeSample(features, instanceCount, sampled));
}

describe("a node is rejected with", () => {
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
    const nodes = treeNodes();
    await expectError(() => nodes.place(node, create(NodeMembersSchema, fields)), "PROTOCOL_STATE", message);
    expect(nodes.members(0).length).toBe(instanceCount);
  });

  test("no members at all", async () => {
    await expectError(() => treeNodes().place(0, undefined), "PROTOCOL_STATE", /node 0 has no members/);
  });
});

test("unknown members and an unknown candidate are rejected", async () => {
  const nodes = treeNodes();
  await expectError(() => nodes.members(5), "PROTOCOL_STATE", /node 5 is not known/);
  expect(nodes.candidateAt(0, candidateCount - 1).rank).toBeLessThan(candidateCount);
  for (const position of [candidateCount, 0xffffffff])
    await expectError(
      () => nodes.candidateAt(0, position),
      "PROTOCOL_STATE",
      new RegExp(`candidate ${position} does not exist`),
    );
});

test("a task sums only the sampled instances of a node; the others are members too", () => {
  const nodes = treeNodes(bitmapFrom(instanceCount, (i) => i < 10));
  nodes.place(
    1,
    create(NodeMembersSchema, { parent: 0, sibling: 2, members: bitmapFrom(instanceCount, (i) => i >= 8) }),
  );
  expect(nodes.members(1)).toHaveLength(32);
  const { positions, counts, suppressed } = nodes.task(1);
  expect([...positions]).toEqual([8, 9]);
  expect(counts).toHaveLength(candidateCount);
  expect(Math.max(...counts)).toBeLessThanOrEqual(2);
  expect(suppressed.includes(1)).toBe(false);
});

describe("with noise", () => {
  const scale = toNoiseScale({ answerNoise: 1, resolutionBits: 24, maxDepth: 3, maxLeaves: 0, outputs: 1 });
  const noisy = (columns: readonly BinnedFeature[]): SentNodes => {
    const job = {
      features: columns,
      instances: Uint32Array.from({ length: instanceCount }, (_, i) => i),
      maxDepth: 3,
      maxLeaves: 0,
      permutationSecret: new Uint8Array(32).fill(6),
      skippedBins: new Int32Array(columns.length).fill(-1),
      sampler: null,
      minimums: noMinimums,
      noise: scale && { secret: new Uint8Array(32), scale, slotCount: 2 },
    };
    return new SentNodes(job, 0, 0, new TreeSample(columns, instanceCount, new Uint8Array(0)));
  };

  test("no order is sent: it would link candidates from tree to tree", async () => {
    const nodes = noisy(features);
    nodes.task(0);
    await expectError(
      () => nodes.order(0),
      "PROTOCOL_STATE",
      /a job with noise or hidden sums does not reveal the order of candidates/,
    );
  });

  test("a name stands for the first candidate with the same sums: the other category, or a copied column", () => {
    const codes = Float32Array.from({ length: instanceCount }, (_, i) => (i % 3 === 0 ? 1 : 0));
    const pair = binCategories("pair", codes, ["x", "y"], 4);
    const nodes = noisy([pair, binFeature("copy", codes, 8), pair]);
    const { byPosition } = nodes.candidates(0);
    const meant = Array.from(byPosition, (rank, position) => [rank, nodes.namedAt(0, position, 1).rank]);
    expect(new Map(meant as [number, number][])).toEqual(
      new Map([
        [0, 0],
        [1, 0],
        [2, 2],
        [3, 3],
        [4, 3],
      ]),
    );
    // None of the tied candidates has such a constraint.
    expect(nodes.namedAt(0, byPosition.indexOf(1), 2).rank).toBe(1);
  });

  test("a constraint may forbid the first: the active party sends the constraints of the tied candidates", () => {
    const codes = Float32Array.from({ length: instanceCount }, (_, i) => (i % 3 === 0 ? Number.NaN : i % 2));
    const nodes = noisy([{ ...binFeature("up", codes, 8), monotone: 1 }]);
    const { byPosition, plan } = nodes.candidates(0);
    const last = byPosition.indexOf(byPosition.length - 1); // missing left, all present right
    const mirrored = byPosition.indexOf(byPosition.length - 2);
    const own = plan.lowerSides[last] === 1 ? 2 : 4;
    expect(nodes.namedAt(0, last, own).rank).toBe(byPosition[last]);
    expect(nodes.namedAt(0, last, 6).rank).toBe(byPosition[mirrored]);
  });
});
