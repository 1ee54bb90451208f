/** Who is in which node of a tree, told by somebody who may lie. */
import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { binFeature } from "../../gbdt/split/binning.ts";
import { noMinimums } from "../../gbdt/split/offered-candidates.ts";
import { NodeMembersSchema } from "../../wire/generated/tandem/v1/tandem_pb.ts";
import { bitmapFrom } from "../../wire/bitmap.ts";
import { TreeNodes } from "./tree-nodes.ts";
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

function treeNodes(sampled: Uint8Array = new Uint8Array(0)): TreeNodes {
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
  return new TreeNodes(job, 0, 0, new TreeSample(features, instanceCount, sampled));
}

describe("a node is refused with", () => {
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
    await expectError(() => treeNodes().place(0, undefined), "PROTOCOL_STATE", /nobody says who is in node 0/);
  });
});

test("unknown members, and a candidate that does not exist, are refused", async () => {
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

test("a task sums those of a node that are sampled; all are its members", () => {
  const nodes = treeNodes(bitmapFrom(instanceCount, (i) => i < 10));
  nodes.place(
    1,
    create(NodeMembersSchema, { parent: 0, sibling: 2, members: bitmapFrom(instanceCount, (i) => i >= 8) }),
  );
  expect(nodes.members(1)).toHaveLength(32);
  const { positions, counts, withheld } = nodes.task(1);
  expect([...positions]).toEqual([8, 9]);
  expect(counts).toHaveLength(candidateCount);
  expect(Math.max(...counts)).toBeLessThanOrEqual(2);
  expect(withheld.includes(1)).toBe(false);
});
