/**
 * Passive parties that deviate to learn labels, or to have a split that their columns do not make. What they get is one
 * name per node, or a refusal.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { SeededRandom } from "../src/base/random.ts";
import { generateKey, type PrivateKey, selectKernel } from "../src/crypto/paillier/index.ts";
import { portableKernel } from "../src/crypto/paillier/portable-kernel.ts";
import type { OwnSplit } from "../src/protocol/passive/role.ts";
import { bitmapFrom, isSet } from "../src/wire/bitmap.ts";
import {
  cheating,
  multipliedCounts,
  MultiplyingPassive,
  OfferingPassive,
  type ToldNames,
} from "./support/cheating-peers.ts";
import { expectError } from "./support/expect-error.ts";
import { firstDifference } from "../src/gbdt/tree/model-compare.ts";
import { type TestJob, trainFederated, trainInOnePlace } from "./support/in-memory-job.ts";
import { randomTable } from "./support/tables.ts";
import { type TestTable } from "./world/simulated.ts";

const people = 96;
let key: PrivateKey;
beforeAll(async () => {
  key = await generateKey({ bits: 256, insecure: true });
});

/** Labels that no column of the active party knows, and at the passive party a column per person. */
function columnPerPerson(seed: number): TestTable {
  const random = new SeededRandom(`labels-${seed}`);
  const labels = Float64Array.from({ length: people }, (_, i) => (i < 2 ? i : random.uniform() < 0.4 ? 1 : 0));
  const own = Float32Array.from({ length: people }, () => 1);
  const columns = Array.from({ length: people }, (_, person) =>
    Float32Array.from({ length: people }, (_v, i) => (i === person ? 1 : 0)),
  );
  return { labels, parties: [[own], columns] };
}

type Alarm = readonly [party: string, tree: number, node: number, words: string];

function attacked(
  job: Pick<TestJob, "table" | "training" | "defences" | "connect" | "passiveScheme">,
  alarms: Alarm[] = [],
): TestJob {
  return { kernel: portableKernel, key, look: { alarm: (...alarm) => void alarms.push(alarm) }, ...job };
}

describe("one person's gradient per candidate, so that all people of a class tie", () => {
  const training = { num_round: 2, max_depth: 2 };
  /** As if so many people had the gradient of each. */
  const multiplied = (told: ToldNames, times: number): Pick<TestJob, "connect" | "passiveScheme"> => ({
    connect: cheating(told, { sums: multipliedCounts(times) }),
    passiveScheme: () => new MultiplyingPassive(portableKernel, key.publicKey, times),
  });

  test("with columns that are honest: one name per node, and an alarm", async () => {
    const table = columnPerPerson(1);
    const [told, alarms]: [ToldNames, Alarm[]] = [[], []];
    const job = attacked({ table, training, connect: cheating(told) }, alarms);
    const { model, passiveShares } = await trainFederated(job);
    expect(firstDifference(model, await trainInOnePlace(job))).toBeNull();
    const [{ splits }] = passiveShares;
    expect(told).toHaveLength(splits.length);
    expect(told.every(({ position }) => position !== null)).toBe(true);
    expect(alarms[0]).toMatchObject(["passive-1", 0, 0, expect.stringMatching(/candidates are the best alike/)]);

    // All of the smaller class tie at the root: it is the first of them that is named, and nobody after that one.
    const { labels } = table;
    const smaller = labels.filter((label) => label === 1).length * 2 < people ? 1 : 0;
    const [root] = splits.filter(({ tree, node }: OwnSplit) => tree === 0 && node === 0);
    expect(root.feature).toBe(labels.indexOf(smaller));
    const named = new Set(splits.map(({ feature }: OwnSplit) => feature));
    expect(named.size).toBeLessThanOrEqual(splits.length);
    expect(named.size).toBeLessThanOrEqual(people / 8); // once it was everybody
  });

  test("as if several people had it: refused at the first split", async () => {
    for (const times of [2, 5]) {
      const [told, alarms]: [ToldNames, Alarm[]] = [[], []];
      await expectError(
        () => trainFederated(attacked({ table: columnPerPerson(times), training, ...multiplied(told, times) }, alarms)),
        "PROTOCOL_STATE",
        /party passive-1 sent a split whose people do not add up to what it had answered/,
      );
      expect(told).toHaveLength(1);
      expect(alarms).toHaveLength(1);
    }
  });

  test("more than the node can have is not named at all", async () => {
    const told: ToldNames = [];
    await expectError(
      () => trainFederated(attacked({ table: columnPerPerson(3), training, ...multiplied(told, people - 1) })),
      "PROTOCOL_STATE",
      /party passive-1 sent a sum that so many people of the node cannot have/,
    );
    expect(told).toEqual([]);
  });

  test("with noise that it leaves out: one name, and an alarm", async () => {
    const [told, alarms]: [ToldNames, Alarm[]] = [[], []];
    // Pairs of people, since a side needs two; the noise is too small to part them.
    const { labels, parties } = columnPerPerson(4);
    const pairs = parties[1].map((column, i) =>
      column.map((value, j) => Math.max(value, parties[1][(i + 1) % people][j])),
    );
    const table = { labels, parties: [parties[0], pairs] };
    const job = { table, training, defences: { answer_noise: 1e-9 }, connect: cheating(told) };
    const { passiveShares } = await trainFederated(attacked(job, alarms));
    expect(told).toHaveLength(passiveShares[0].splits.length);
    expect(alarms.length).toBeGreaterThan(0);
  });
});

test("honest columns raise no alarm: copies, few values, bins that nobody of a node is in", async () => {
  const copied = randomTable("copies", { rows: 400, features: [1, 4], ties: true });
  const fine = randomTable("fine", { rows: 400, features: [1, 1], missingFraction: 0.1 });
  for (const table of [copied, fine]) {
    const alarms: Alarm[] = [];
    const parties = [table.parties[0], [...table.parties[1], ...table.parties[1], ...table.parties[1]]];
    const job = attacked({ table: { ...table, parties }, training: { max_depth: 5, max_bin: 256 } }, alarms);
    await trainFederated({ ...job, kernel: selectKernel() });
    expect(alarms).toEqual([]);
  }
});

describe("a split that the columns do not make", () => {
  const table = randomTable("made up", { rows: 80, features: [0, 3] });
  /** As many go left as before, and others. */
  const others = (left: Uint8Array, count: number): Uint8Array =>
    bitmapFrom(count, (i) => isSet(left, (i + 1) % count));

  test.each([
    ["exactly", {}],
    ["with noise", { answer_noise: 0.05 }],
  ])("%s", async (_name, defences) => {
    const told: ToldNames = [];
    const connect = cheating(told, {
      split: (split) => (split.node === 0 ? { ...split, leftMembers: others(split.leftMembers, 80) } : split),
    });
    await expectError(
      () => trainFederated(attacked({ table, defences, connect })),
      "PROTOCOL_STATE",
      /party passive-1 sent a split whose people do not add up/,
    );
    expect(told).toHaveLength(1);
  });

  test("one person more on each side that is summed, with the same sums", async () => {
    const connect = cheating([], {
      sums: (answer) => ({ ...answer, counts: answer.counts.map((count) => Math.min(80, count + 1)) }),
    });
    await expectError(
      () => trainFederated(attacked({ table, connect })),
      "PROTOCOL_STATE",
      /party passive-1 sent a (split whose people do not add up|sum that so many people)/,
    );
  });
});

describe("one category per person", () => {
  const labels = columnPerPerson(5).labels;
  const codes = Float32Array.from({ length: people }, (_, i) => i);
  const table: TestTable = {
    labels,
    parties: [[Float32Array.from(codes, () => 1)], [codes]],
    categories: [[null], [Array.from(codes, (code) => `person ${code}`)]],
  };
  const training = { enable_categorical: true, num_round: 1, max_depth: 1, max_cat_threshold: 4096 };

  test("is refused before a set is named, also with noise", async () => {
    const told: ToldNames = [];
    await expectError(
      () => trainFederated(attacked({ table, training, connect: cheating(told) })),
      "POLICY",
      /party passive-1 has a feature with 96 categories of 1\.0 people.*--min-category-people/,
    );
    // An honest party withholds every category of one person there; this one does not.
    const offering = {
      connect: cheating(told, { sums: (answer) => ({ ...answer, withheld: new Uint8Array(0) }) }),
      passiveScheme: () => new OfferingPassive(portableKernel),
    };
    await expectError(
      () => trainFederated(attacked({ table, training, defences: { answer_noise: 0.01 }, ...offering })),
      "POLICY",
      /party passive-1 has a feature with 96 categories of 1\.0 people/,
    );
    expect(told).toEqual([]);
  });

  test("tells every label if the active party allows it", async () => {
    const job = attacked({ table, training: { ...training, min_category_people: 0 } });
    const { passiveShares } = await trainFederated(job);
    const [{ splits }] = passiveShares;
    const right = new Set(splits[0].categories);
    expect(labels.map((_, i) => (right.has(`person ${i}`) ? 0 : 1))).toEqual(labels);
  });
});
