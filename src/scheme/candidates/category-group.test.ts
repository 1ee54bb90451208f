import { create } from "@bufbuild/protobuf";
import { beforeAll, describe, expect, test } from "vitest";
import { categoricalTable } from "../../../test/support/categorical-tables.ts";
import { expectError } from "../../../test/support/expect-error.ts";
import { prepareJob } from "../../../test/support/prepared-job.ts";
import { generateKey, type PrivateKey, selectKernel } from "../../crypto/paillier/index.ts";
import type { BinnedFeature } from "../../gbdt/split/binning.ts";
import { binCategories } from "../../gbdt/split/category-binning.ts";
import { connectInMemory } from "../../transport/in-memory.ts";
import { TreeCandidates } from "./candidate-set.ts";
import { categoryRows, groupMessages, groupsFrom, setFrom } from "./category-group.ts";
import {
  CategoryGroupSchema,
  CategorySetSchema,
  type PassiveHistograms,
} from "../../wire/generated/tandem/v1/tandem_pb.ts";
import type { PassivePeer } from "../../wire/peer.ts";

let key: PrivateKey;
beforeAll(async () => {
  key = await generateKey({ bits: 256, insecure: true });
});

const group = { size: 4, hasMissing: true, flipped: 1 };

test("a flipped candidate is the node minus its sum; a suppressed one stays zero", () => {
  const totals = Float64Array.of(100, 10);
  const sides = { rows: Float64Array.of(9, 9, 1, 1, 70, 6, 2, 2, 3, 3), suppressed: new Uint8Array(5) };
  expect([...categoryRows(group, 1, sides, totals).rows]).toEqual([1, 1, 30, 4, 2, 2, 3, 3]);
  expect([...categoryRows({ ...group, flipped: -1 }, 1, sides, totals).rows]).toEqual([1, 1, 70, 6, 2, 2, 3, 3]);
  const { rows, suppressed } = categoryRows(
    group,
    1,
    { rows: sides.rows.map((value, i) => (i === 4 || i === 5 ? 0 : value)), suppressed: Uint8Array.of(0, 0, 1, 0, 0) },
    totals,
  );
  expect([...rows.subarray(2, 4)]).toEqual([0, 0]);
  expect([...suppressed]).toEqual([0, 1, 0, 0]);
});

test("groups from the wire must be valid, and cover no more than the candidates", async () => {
  const messages = groupMessages([group, { size: 2, hasMissing: false, flipped: -1 }]).map((message) =>
    create(CategoryGroupSchema, message),
  );
  expect(groupsFrom(messages, 6)).toEqual([group, { size: 2, hasMissing: false, flipped: -1 }]);
  await expectError(() => groupsFrom(messages, 5), "PROTOCOL_STATE", /do not match/);
  for (const wrong of [{ size: 1 }, { size: 2, hasMissing: true }, { size: 3, flipped: 4 }])
    await expectError(() => groupsFrom([create(CategoryGroupSchema, wrong)], 9), "PROTOCOL_STATE", /do not match/);
});

test("a category set must split its group, and must not name a suppressed category", async () => {
  const from = (set: object, isSuppressed = (_place: number): boolean => false, given = group) =>
    setFrom(create(CategorySetSchema, set), given, isSuppressed);
  expect(from({ categories: [0, 2], missingLeft: true })).toEqual({ categories: [0, 2], missingLeft: true });
  expect(from({ categories: [0, 1, 2], missingLeft: true })).toMatchObject({ categories: [0, 1, 2] });
  for (const wrong of [
    { categories: [], missingLeft: true },
    { categories: [2, 0], missingLeft: true },
    { categories: [1, 1], missingLeft: true },
    { categories: [3], missingLeft: true },
    { categories: [0, 1, 2], missingLeft: false },
  ]) {
    await expectError(() => from(wrong), "PROTOCOL_STATE", /does not split/);
  }
  // Without missing values, a cut from the back decides where missing values would go.
  const present = { size: 3, hasMissing: false, flipped: -1 };
  expect(from({ categories: [0], missingLeft: false }, undefined, present)).toMatchObject({ categories: [0] });
  await expectError(
    () => from({ categories: [0, 2], missingLeft: true }, (place) => place === 2),
    "PROTOCOL_STATE",
    /suppressed/,
  );
  await expectError(
    () => from({ categories: [0], missingLeft: false }, (place) => place === 3),
    "PROTOCOL_STATE",
    /suppressed/,
  );
});

test("groups come first, each in the order of its codes; the order of groups changes from tree to tree", () => {
  const names = Array.from({ length: 5 }, (_, i) => `c${i}`);
  const feature = (name: string, count: number): BinnedFeature =>
    binCategories(
      name,
      Float32Array.from({ length: 60 }, (_, i) => i % count),
      names,
      4,
    );
  const features = [feature("few", 3), feature("a", 5), feature("b", 5), feature("c", 5)];
  const orders = Array.from({ length: 12 }, (_, tree) => {
    const { groups, byPosition, plan } = new TreeCandidates(
      { features, permutationSecret: new Uint8Array(32).fill(7), skippedBins: new Int32Array(4), sampler: null },
      tree,
      tree,
    ).at({ depth: 0, node: 0 });
    let position = 0;
    for (const { firstRank, size, feature: index, flipped } of groups) {
      expect(plan.candidates[firstRank].feature).toBe(index);
      expect(flipped).toBe(0);
      for (let i = 0; i < size; i++) expect(byPosition[position++]).toBe(firstRank + i);
    }
    expect([...byPosition.subarray(position)].every((rank) => plan.candidates[rank].feature === 0)).toBe(true);
    expect(new Set(byPosition).size).toBe(plan.candidates.length);
    return groups.map(({ feature: index }) => index).join();
  });
  expect(new Set(orders).size).toBeGreaterThan(2);
});

describe("a deviating party is rejected", () => {
  const table = categoricalTable("groups", { rows: 60, features: [1, 1], categories: [[], [6]], missingFraction: 0.1 });
  const job = (change: (answer: PassiveHistograms) => PassiveHistograms, enable_categorical = true) =>
    prepareJob({
      table,
      kernel: selectKernel(),
      key,
      training: { num_round: 1, max_depth: 3, enable_categorical },
      connect: (name, service): PassivePeer => {
        const peer = connectInMemory(name, service);
        return {
          ...peer,
          histograms: async function* (nodes, options) {
            for await (const answer of peer.histograms(nodes, options)) yield change(answer);
          },
        };
      },
    }).run();

  test.each<[string, (answer: PassiveHistograms) => PassiveHistograms, RegExp, boolean?]>([
    ["categories that were not agreed", (answer) => answer, /not agreed/, false],
    [
      "more categories than candidates",
      (answer) => ({ ...answer, groups: answer.groups.map((one) => ({ ...one, size: 99 })) }),
      /do not match/,
    ],
    [
      "different groups at a child",
      (answer) =>
        answer.node === 0 ? answer : { ...answer, groups: answer.groups.map((one) => ({ ...one, flipped: 0 })) },
      /different category groups/,
    ],
    [
      "pieces of fewer categories than a group has",
      (answer) => ({ ...answer, groups: answer.groups.map((one) => ({ ...one, pieces: [0] })) }),
      /do not match/,
    ],
  ])("%s", async (_name, change, message, enabled = true) => {
    await expectError(() => job(change, enabled), "PROTOCOL_STATE", message);
  });

  test("a decision that names a category as a split, or an unknown group, is rejected", async () => {
    const { passives, run } = prepareJob({
      table,
      kernel: selectKernel(),
      key,
      training: { num_round: 1, max_depth: 2, enable_categorical: true },
    });
    await run();
    const nodes = passives[0].scheme.nodes();
    await expectError(() => nodes.candidateAt(0, 0), "PROTOCOL_STATE", /a category, not a split/);
    await expectError(
      () => nodes.setAt(0, create(CategorySetSchema, { group: 1, categories: [0], missingLeft: true })),
      "PROTOCOL_STATE",
      /no category group 1/,
    );
    expect(
      nodes.setAt(0, create(CategorySetSchema, { group: 0, categories: [0, 3], missingLeft: true })),
    ).toMatchObject({ feature: 1, categories: [0, 3], missingLeft: true });
  });

  test("where bits are used up, a set that divides a piece is rejected, and a union of pieces is not", async () => {
    const { passives, run } = prepareJob({
      table: categoricalTable("pieces", { rows: 90, features: [1, 0], categories: [[], [6]], missingFraction: 0.1 }),
      kernel: selectKernel(),
      key,
      training: { num_round: 3, max_depth: 2, enable_categorical: true },
      defences: { outcome_bits: 1.2 },
    });
    await run();
    const nodes = passives[0].scheme.nodes();
    const [{ pieces = [], size }] = nodes.task(1).groups;
    const ask = (right: readonly number[]) => {
      const categories = right.filter((place) => place < size - 1);
      return nodes.setAt(
        1,
        create(CategorySetSchema, { group: 0, categories, missingLeft: !right.includes(size - 1) }),
      );
    };
    const ofPiece = (piece: number): number[] => [...pieces.keys()].filter((place) => pieces[place] === piece);
    expect(new Set(pieces).size).toBeGreaterThan(1);
    const whole =
      [...new Set(pieces)].map(ofPiece).find((piece) => piece.length > 1 && !piece.includes(size - 1)) ?? [];
    expect(ask(whole)).toMatchObject({ categories: whole });
    await expectError(() => ask(whole.slice(1)), "PROTOCOL_STATE", /divides a piece/);
  });
});
