/**
 * Passive parties that deviate to learn labels, or to obtain a split that their columns do not make. They learn the one
 * winning candidate per node, or are refused.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { SeededRandom } from "../src/base/random.ts";
import { generateKey, type PrivateKey, selectKernel } from "../src/crypto/paillier/index.ts";
import type { OwnSplit } from "../src/protocol/passive/role.ts";
import { bitmapFrom, isSet } from "../src/wire/bitmap.ts";
import {
  cheating,
  multipliedCounts,
  MultiplyingPassive,
  OfferingPassive,
  type NamedWinners,
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

/** Labels independent of the active party's columns; the passive party has an indicator column per instance. */
function columnPerInstance(seed: number): TestTable {
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
  return { kernel: selectKernel(), key, look: { alarm: (...alarm) => void alarms.push(alarm) }, ...job };
}

describe("one instance's gradient per candidate, so that all instances of a class tie", () => {
  const training = { num_round: 2, max_depth: 2 };
  /** Sums and counts as if `times` instances had each gradient. */
  const multiplied = (winners: NamedWinners, times: number): Pick<TestJob, "connect" | "passiveScheme"> => ({
    connect: cheating(winners, { sums: multipliedCounts(times) }),
    passiveScheme: () => new MultiplyingPassive(selectKernel(), key.publicKey, times),
  });

  test("with honest columns: one winner per node, and an alarm", async () => {
    const table = columnPerInstance(1);
    const [winners, alarms]: [NamedWinners, Alarm[]] = [[], []];
    const job = attacked({ table, training, connect: cheating(winners) }, alarms);
    const { model, passiveShares } = await trainFederated(job);
    expect(firstDifference(model, await trainInOnePlace(job))).toBeNull();
    const [{ splits }] = passiveShares;
    expect(winners).toHaveLength(splits.length);
    expect(winners.every(({ position }) => position !== null)).toBe(true);
    expect(alarms[0]).toMatchObject(["passive-1", 0, 0, expect.stringMatching(/candidates tie for the best gain/)]);

    // All instances of the smaller class tie at the root: only the first of them is named.
    const { labels } = table;
    const smaller = labels.filter((label) => label === 1).length * 2 < people ? 1 : 0;
    const [root] = splits.filter(({ tree, node }: OwnSplit) => tree === 0 && node === 0);
    expect(root.feature).toBe(labels.indexOf(smaller));
    const named = new Set(splits.map(({ feature }: OwnSplit) => feature));
    expect(named.size).toBeLessThanOrEqual(splits.length);
    expect(named.size).toBeLessThanOrEqual(people / 8); // an earlier protocol named all instances
  });

  test("as if several instances had it: refused at the first split", async () => {
    for (const times of [2, 5]) {
      const [winners, alarms]: [NamedWinners, Alarm[]] = [[], []];
      await expectError(
        () =>
          trainFederated(
            attacked({ table: columnPerInstance(times), training, ...multiplied(winners, times) }, alarms),
          ),
        "PROTOCOL_STATE",
        /party passive-1 sent a split whose instances do not add up to its sums/,
      );
      expect(winners).toHaveLength(1);
      expect(alarms).toHaveLength(1);
    }
  });

  test("a sum that the node cannot have is refused before a winner is named", async () => {
    const winners: NamedWinners = [];
    await expectError(
      () => trainFederated(attacked({ table: columnPerInstance(3), training, ...multiplied(winners, people - 1) })),
      "PROTOCOL_STATE",
      /party passive-1 sent a sum that this number of instances of the node cannot have/,
    );
    expect(winners).toEqual([]);
  });

  test("without the agreed noise: one winner per node, and an alarm", async () => {
    const [winners, alarms]: [NamedWinners, Alarm[]] = [[], []];
    // Pairs of instances, since a side needs two; the noise is too small to separate them.
    const { labels, parties } = columnPerInstance(4);
    const pairs = parties[1].map((column, i) =>
      column.map((value, j) => Math.max(value, parties[1][(i + 1) % people][j])),
    );
    const table = { labels, parties: [parties[0], pairs] };
    const job = { table, training, defences: { answer_noise: 1e-9 }, connect: cheating(winners) };
    const { passiveShares } = await trainFederated(attacked(job, alarms));
    expect(winners).toHaveLength(passiveShares[0].splits.length);
    expect(alarms.length).toBeGreaterThan(0);
  });
});

test("honest columns raise no alarm: copies, few values, bins without an instance of the node", async () => {
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
  const table = randomTable("false split", { rows: 80, features: [0, 3] });
  /** As many instances go left as before, but different ones. */
  const others = (left: Uint8Array, count: number): Uint8Array =>
    bitmapFrom(count, (i) => isSet(left, (i + 1) % count));

  test.each([
    ["exactly", {}],
    ["with noise", { answer_noise: 0.05 }],
  ])("%s", async (_name, defences) => {
    const winners: NamedWinners = [];
    const connect = cheating(winners, {
      split: (split) => (split.node === 0 ? { ...split, leftMembers: others(split.leftMembers, 80) } : split),
    });
    await expectError(
      () => trainFederated(attacked({ table, defences, connect })),
      "PROTOCOL_STATE",
      /party passive-1 sent a split whose instances do not add up/,
    );
    expect(winners).toHaveLength(1);
  });

  test("one more instance on each summed side, with the same sums", async () => {
    const connect = cheating([], {
      sums: (answer) => ({ ...answer, counts: answer.counts.map((count) => Math.min(80, count + 1)) }),
    });
    await expectError(
      () => trainFederated(attacked({ table, connect })),
      "PROTOCOL_STATE",
      /party passive-1 sent a (split whose instances do not add up|sum that this number of instances)/,
    );
  });
});

describe("one category per instance", () => {
  const labels = columnPerInstance(5).labels;
  const codes = Float32Array.from({ length: people }, (_, i) => i);
  const table: TestTable = {
    labels,
    parties: [[Float32Array.from(codes, () => 1)], [codes]],
    categories: [[null], [Array.from(codes, (code) => `person ${code}`)]],
  };
  const training = { enable_categorical: true, num_round: 1, max_depth: 1, max_cat_threshold: 4096 };

  test("is refused before a set is named, also with noise", async () => {
    const winners: NamedWinners = [];
    await expectError(
      () => trainFederated(attacked({ table, training, connect: cheating(winners) })),
      "POLICY",
      /party passive-1 has a feature with 96 categories of 1\.0 instances.*--min-category-people/,
    );
    // An honest party suppresses every category of a single instance; this one does not.
    const offering = {
      connect: cheating(winners, { sums: (answer) => ({ ...answer, suppressed: new Uint8Array(0) }) }),
      passiveScheme: () => new OfferingPassive(selectKernel()),
    };
    await expectError(
      () => trainFederated(attacked({ table, training, defences: { answer_noise: 0.01 }, ...offering })),
      "POLICY",
      /party passive-1 has a feature with 96 categories of 1\.0 instances/,
    );
    expect(winners).toEqual([]);
  });

  test("reveals every label if the active party allows it", async () => {
    const job = attacked({ table, training: { ...training, min_category_people: 0 } });
    const { passiveShares } = await trainFederated(job);
    const [{ splits }] = passiveShares;
    const right = new Set(splits[0].categories);
    expect(labels.map((_, i) => (right.has(`person ${i}`) ? 0 : 1))).toEqual(labels);
  });
});
