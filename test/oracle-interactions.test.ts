/**
 * Interaction constraints over features of several parties, which do not name them to each other: federated equals
 * centralised with every scheme, every path keeps to the groups, and deviations of either side are refused.
 */
import { beforeAll, describe, expect, test } from "vitest";
import type { TrainingParameters } from "../src/gbdt/parameters/training-parameters.ts";
import { generateKey, type PrivateKey, selectKernel } from "../src/crypto/paillier/index.ts";
import type { Model } from "../src/gbdt/tree/model.ts";
import { firstDifference } from "../src/gbdt/tree/model-compare.ts";
import type { PassiveAnswers } from "../src/protocol/passive/role.ts";
import { curve } from "../src/scheme/curve/curve.ts";
import { lattice } from "../src/scheme/lattice/lattice.ts";
import { categoricalTable } from "./support/categorical-tables.ts";
import { expectError } from "./support/expect-error.ts";
import { trainFederated, trainInOnePlace, type TestJob, type TestOutcome } from "./support/in-memory-job.ts";
import { randomTable } from "./support/tables.ts";
import { type TestTable } from "./world/simulated.ts";

const kernel = selectKernel();
let key: PrivateKey;
beforeAll(async () => {
  key = await generateKey({ bits: 256, insecure: true });
});

/** Groups over three owners; the last feature of each of two parties is in none. */
const groups = [
  ["a", "b"],
  ["ab", "c", ""],
  ["bc", ""],
];
const table: TestTable = {
  ...randomTable("interactions", { rows: 80, features: [2, 3, 2], missingFraction: 0.1, regression: true }),
  groups,
};
const training: Partial<TrainingParameters> = { objective: "reg:squarederror", max_depth: 4, num_round: 2, eta: 1 };

function pathsOf({ trees }: Model): string[][] {
  const paths: string[][] = [];
  for (const tree of trees) {
    const walk = (id: number, path: readonly string[]): void => {
      const node = tree[id];
      if (node.kind === "leaf") return;
      const longer = [...path, node.rule.featureName];
      paths.push(longer);
      walk(node.left, longer);
      walk(node.right, longer);
    };
    walk(0, []);
  }
  return paths;
}

function keepsTo(path: readonly string[], given: readonly (readonly string[])[]): boolean {
  const groupsOf = (name: string): string => given[Number(name[1])][Number(name.slice(3))];
  const isAlone = new Set(path).size === 1;
  return isAlone || [..."abc"].some((group) => path.every((name) => groupsOf(name).includes(group)));
}

async function expectEqual(job: Omit<TestJob, "kernel" | "key">): Promise<TestOutcome> {
  const whole = { kernel, key, ...job };
  const outcome = await trainFederated(whole);
  expect(firstDifference(outcome.model, await trainInOnePlace(whole))).toBeNull();
  for (const path of pathsOf(outcome.model)) expect(keepsTo(path, job.table.groups ?? []), path.join()).toBe(true);
  for (const { active, passive } of outcome.seen) expect(passive.ledger).toEqual(active.ledger);
  return outcome;
}

const classes: TestTable = { ...table, labels: Float64Array.from({ length: 80 }, (_, i) => i % 3) };
const categories: TestTable = {
  ...categoricalTable(3, { rows: 80, features: [1, 1, 1], categories: [[6], [7], [5, 8]], missingFraction: 0.1 }),
  groups: [
    ["a", "b"],
    ["ab", "c"],
    ["bc", "", "a"],
  ],
};
const cases: readonly (readonly [string, Omit<TestJob, "kernel" | "key">])[] = [
  ["depth by depth", { table, training }],
  [
    "leaf by leaf, columns per node",
    { table, training: { ...training, grow_policy: "lossguide", max_leaves: 7, colsample_bynode: 0.7 } },
  ],
  ["few thresholds", { table, training, defences: { max_thresholds: 2 } }],
  ["noise", { table, training, defences: { answer_noise: 0.2 } }],
  [
    "a tree per class",
    { table: classes, training: { objective: "multi:softprob", num_class: 3, num_round: 1, max_depth: 3 } },
  ],
  ["sets of categories", { table: categories, training: { enable_categorical: true, num_round: 2, max_depth: 4 } }],
];

describe("federated equals centralised", () => {
  test.each(
    [undefined, curve, lattice].flatMap((scheme) =>
      cases.map(([name, job]) => [name, scheme?.name, scheme, job] as const),
    ),
  )("%s (%s)", async (_name, _scheme, scheme, job) => {
    const { model, seen } = await expectEqual({ ...job, ...(scheme === undefined ? {} : { scheme }) });
    const free = await trainInOnePlace({
      ...job,
      key,
      table: { ...job.table, groups: [] },
      ...(scheme === undefined ? {} : { scheme }),
    });
    expect(firstDifference(model, free), "constraints that change nothing test nothing").not.toBeNull();
    expect(seen.some(({ passive }) => passive.ledger.openGroups > 0)).toBe(true);
    for (const { passive } of seen) expect(passive.ledger.splitGroups).toBe(passive.ledger.wins);
  });

  test("outcomes are hidden too", async () => {
    await expectEqual({ table, training, scheme: lattice, defences: { hidden_outcomes: true } });
  });

  test("a party without features in a group is not asked below it; without groups nothing is sent", async () => {
    const withoutGroup = {
      ...table,
      groups: [
        ["a", "a"],
        ["a", "a", "a"],
        ["b", "b"],
      ],
    };
    const { seen } = await expectEqual({ table: withoutGroup, training });
    const together = {
      ...table,
      groups: [
        ["a", "a"],
        ["a", "a", "a"],
        ["a", "a"],
      ],
    };
    const { seen: all, model } = await expectEqual({ table: together, training });
    expect(
      firstDifference(model, await trainInOnePlace({ table: { ...table, groups: [] }, training, key })),
    ).toBeNull();
    expect(seen[1].passive.ledger.memberships).toBeLessThan(all[1].passive.ledger.memberships);
    const free = await trainFederated({ table: { ...table, groups: [] }, training, kernel, key });
    for (const { passive } of free.seen)
      expect([passive.ledger.openGroups, passive.ledger.splitGroups]).toEqual([0, 0]);
  });
});

/** The calls of a passive party, changed on their way. */
function changed(change: Partial<Record<keyof PassiveAnswers, (call: (...given: never[]) => unknown) => unknown>>) {
  return (answers: PassiveAnswers): PassiveAnswers => {
    const own = Object.entries(change).map(([name, make]) => [name, make(answers[name as keyof PassiveAnswers])]);
    return { ...answers, ...(Object.fromEntries(own) as Partial<PassiveAnswers>) };
  };
}

describe("deviations are refused", () => {
  type Nodes = AsyncIterable<{ members?: { isRoot: boolean; open: number } }>;
  const lying = (open: (sent: number) => number) =>
    changed({
      histograms: (call) => (nodes: Nodes) => {
        async function* others() {
          for await (const node of nodes)
            yield node.members && !node.members.isRoot
              ? { ...node, members: { ...node.members, open: open(node.members.open) } }
              : node;
        }
        return (call as (nodes: unknown) => unknown)(others());
      },
    });

  test.each([undefined, lattice])("an active party that sends wrong groups", async (scheme) => {
    const job = { table, training, kernel, key, ...(scheme === undefined ? {} : { scheme }) };
    const words = /open interaction groups|differ from the earlier children|open groups in a job/;
    for (const open of [() => 7, () => 0, () => 2 ** 31, () => 8])
      await expectError(() => trainFederated({ ...job, around: lying(open) }), "PROTOCOL_STATE", words);
    if (scheme !== undefined) return; // no node is placed there
    const free = { ...job, table: { ...table, groups: [] } };
    await expectError(() => trainFederated({ ...free, around: lying(() => 1) }), "PROTOCOL_STATE", words);
  });

  test("a passive party that answers with closed groups, no groups, or unknown groups", async () => {
    const naming = (named: (groups: number, node: number) => number) =>
      changed({
        splits: (call) =>
          async function* (request: unknown) {
            const answers = (call as (request: unknown) => AsyncIterable<{ groups: number; node: number }>)(request);
            for await (const answer of answers) yield { ...answer, groups: named(answer.groups, answer.node) };
          },
      });
    const job = { table, training, kernel, key };
    const words = /none of its interaction groups is allowed/;
    for (const named of [() => 2 ** 32 - 1, (own: number, node: number) => (node === 0 ? own : 0), () => 8])
      await expectError(() => trainFederated({ ...job, around: naming(named) }), "PROTOCOL_STATE", words);
    const ready = changed({
      setUp: (call) => async (setUp: unknown) => ({
        ...(await (call as (setUp: unknown) => Promise<object>)(setUp)),
        groups: 8,
      }),
    });
    await expectError(
      () => trainFederated({ ...job, around: ready }),
      "PROTOCOL_STATE",
      /interaction groups that the job does not have/,
    );
  });
});
