/** Rounds of several trees at a passive party: what is stored, what is redone, and what is kept at the end. */
import { create } from "@bufbuild/protobuf";
import { beforeAll, describe, expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { column, drive, type Driver } from "../../../test/support/passive-driver.ts";
import { keptAnswers } from "../../../test/support/passive-disk.ts";
import { collect } from "../../../test/support/streams.ts";
import { generateKey, type PrivateKey } from "../../crypto/paillier/index.ts";
import { ActiveJobFinishedSchema, ActivePredictSchema } from "../../wire/generated/tandem/v1/tandem_pb.ts";
import { fitsStoredTrees } from "../job-parameters.ts";
import { noProgress, type PassiveProgress } from "./answered-splits.ts";

let key: PrivateKey;
beforeAll(async () => {
  key = await generateKey({ bits: 256, insecure: true });
});

const permutationSecret = Uint8Array.from({ length: 32 }, (_, i) => i);
const threeClasses = { num_round: 3, max_depth: 2, objective: "multi:softprob" as const, num_class: 3 };

/** Roles over one storage; each is an attempt. */
class Attempts {
  progress: PassiveProgress = noProgress;
  readonly #answers = keptAnswers();
  readonly #training: typeof threeClasses & { readonly local_rounds?: number };

  constructor(training: typeof threeClasses & { readonly local_rounds?: number } = threeClasses) {
    this.#training = training;
  }

  async at(trees: number): Promise<Driver> {
    const store = (progress: PassiveProgress): Promise<void> =>
      Promise.resolve(void (this.progress = structuredClone(progress) as PassiveProgress));
    const roundStore = this.#answers;
    const driver = drive(key, { progress: this.progress, store, permutationSecret, roundStore }, this.#training);
    driver.join({ trees });
    await driver.setUp();
    return driver;
  }
}

async function round(driver: Driver, first: number): Promise<void> {
  await driver.gradients(first);
  for (let tree = first; tree < first + 3; tree++) await driver.finishTree(tree);
}

describe("a round of three trees", () => {
  test("takes its gradients once; a late copy of them, or of a tree's end, changes nothing", async () => {
    const attempts = new Attempts();
    const driver = await attempts.at(0);
    await driver.gradients(0);
    await driver.splits(0, 0, 3);
    await driver.finishTree(0);
    await driver.gradients(0);
    await driver.finishTree(0);
    await expectError(() => driver.splits(0, 0, 3), "PROTOCOL_STATE", /is at tree 1, not 0/);
    await expectError(() => driver.gradients(1), "PROTOCOL_STATE");
    await expectError(() => driver.finishTree(2), "PROTOCOL_STATE", /is at tree 1, not 2/);
    await driver.splits(1, 0, 4);
    await driver.finishTree(1);
    await driver.finishTree(2);
    await round(driver, 3);
    expect(attempts.progress.trees).toBe(6);
  });

  test("that broke off in its second tree is redone from its first, and only in the same way", async () => {
    const attempts = new Attempts();
    const first = await attempts.at(0);
    await first.gradients(0);
    const left = [await first.splits(0, 0, 3)];
    await first.finishTree(0);
    left.push(await first.splits(1, 0, 4));
    expect(attempts.progress).toMatchObject({ trees: 1, splits: [{ tree: 0 }, { tree: 1 }] });

    const again = await attempts.at(0);
    await again.gradients(0);
    await expectError(() => again.finishTree(0), "PROTOCOL_STATE", /tree 0 was grown differently before/);
    await expectError(() => again.splits(0, 0, 4), "PROTOCOL_STATE", /node 0 is already split/);
    expect(await again.splits(0, 0, 3)).toEqual(left[0]);
    await again.finishTree(0);
    await expectError(() => again.finishTree(1), "PROTOCOL_STATE", /tree 1 was grown differently before/);
    await expectError(() => again.splits(1, 0, 3), "PROTOCOL_STATE", /node 0 is already split/);
    expect(await again.splits(1, 0, 4)).toEqual(left[1]);
    await again.finishTree(1);
    await again.finishTree(2);
    expect(attempts.progress).toMatchObject({ trees: 3, splits: [{ tree: 0 }, { tree: 1 }] });
    expect(Object.keys(attempts.progress.members), "of the round that can be redone").toEqual(["0/0", "1/0"]);
    await round(again, 3);
    expect(Object.keys(attempts.progress.members)).toEqual([]);
  });

  test("keeps whole rounds, which were grown, at the end; and answers for dropped ones until then", async () => {
    const driver = await new Attempts().at(0);
    await driver.gradients(0);
    await driver.splits(0, 0, 3);
    for (const tree of [0, 1, 2]) await driver.finishTree(tree);
    await driver.gradients(3);
    await driver.splits(3, 0, 4);
    for (const tree of [3, 4, 5]) await driver.finishTree(tree);
    for (const treeCount of [0, 4, 9])
      await expectError(
        () => driver.role.finishJob(create(ActiveJobFinishedSchema, { treeCount })),
        "PROTOCOL_STATE",
        new RegExp(`after 6 of 9 trees and keeps ${treeCount}`),
      );
    expect(await driver.predict(["id-0"])).toHaveLength(2);
    driver.role.finishJob(create(ActiveJobFinishedSchema, { treeCount: 3 }));
    expect(driver.role.ownSplits).toMatchObject([{ tree: 0 }]);
    expect(await driver.predict(["id-0"])).toHaveLength(2);
  });

  test("cannot be skipped by ending the job before it is redone", async () => {
    const attempts = new Attempts();
    await round(await attempts.at(0), 0);
    const driver = await attempts.at(3);
    await driver.gradients(3);
    await driver.finishTree(3);
    const again = await attempts.at(3);
    await expectError(
      () => again.role.finishJob(create(ActiveJobFinishedSchema, { treeCount: 3 })),
      "PROTOCOL_STATE",
      /after 3 of 9 trees/,
    );
  });
});

test("local rounds count as stored by every party", async () => {
  const attempts = new Attempts({ ...threeClasses, local_rounds: 1 });
  for (const trees of [0, 3]) {
    const driver = await attempts.at(trees);
    await expectError(() => driver.gradients(0), "PROTOCOL_STATE", /out of order/);
    await driver.gradients(3);
    await driver.finishTree(3);
  }
  expect(attempts.progress.trees).toBe(4);
});

test("every node that is asked for is admitted first, also one that is asked for again", async () => {
  let admitted = 0;
  const admitNode = async (): Promise<void> => {
    if (++admitted > 3) throw new Error("enough");
  };
  const driver = drive(key, { admitNode });
  driver.join();
  await driver.setUp();
  await driver.gradients(0);
  for (let time = 0; time < 3; time++) await driver.root(0);
  const { candidateSums } = driver.role.tally.ledger;
  await expect(driver.root(0)).rejects.toThrow("enough");
  expect(candidateSums).toBeGreaterThan(0);
  expect(driver.role.tally.ledger.candidateSums).toBe(candidateSums);
  expect(admitted).toBe(4);
});

test("a start model's splits are answered over all instances, without ids, where there is such a model", async () => {
  const ask = (driver: Driver, rowCount = 0): Promise<unknown> =>
    collect(driver.role.answers.predict(create(ActivePredictSchema, { startInstances: true, rowCount })));
  const split = { tree: 0, node: 2, feature: 1, featureName: "p1f1", threshold: 2.5, defaultLeft: true };
  const admitted: number[] = [];
  const admitScores = async (count: number): Promise<void> => void admitted.push(count);
  const driver = drive(key, { start: [{ split, values: column }], admitScores });
  await expectError(() => ask(driver), "PROTOCOL_STATE", /is waiting/);
  driver.join();
  // 1, 2, 3, missing, 1, 2, 3, missing, 1, 2
  expect(await ask(driver)).toEqual([{ tree: 0, node: 2, leftMembers: Uint8Array.of(0b10111011, 0b11) }]);
  expect(driver.role.tally.ledger).toMatchObject({ predictionOutcomes: 10, predictedIds: 0 });
  expect(admitted, "they are scored, so their owner's budget counts them").toEqual([10]);
  await expectError(() => ask(driver, 1), "PROTOCOL_STATE", /test rows and the job's instances/);
  expect(driver.role.ownSplits).toEqual([split]);
  const without = drive(key);
  without.join();
  await expectError(() => ask(without), "PROTOCOL_STATE", /has no start model/);
});

test("stored trees are consistent if the passive party has the same number, or up to a round more", () => {
  const fitting = (
    agreed: { localRounds: number; treesPerRound: number; startTrees?: number },
    active: number,
  ): number[] =>
    Array.from({ length: 12 }, (_, i) => i).filter((passive) =>
      fitsStoredTrees({ startTrees: 0, ...agreed }, active, passive),
    );
  expect(fitting({ localRounds: 0, treesPerRound: 1 }, 2)).toEqual([2, 3]);
  expect(fitting({ localRounds: 0, treesPerRound: 3 }, 3)).toEqual([3, 4, 5, 6]);
  expect(fitting({ localRounds: 0, treesPerRound: 3 }, 4), "half a round").toEqual([]);
  expect(fitting({ localRounds: 2, treesPerRound: 3 }, 3), "the active party alone so far").toEqual([6, 7, 8, 9]);
  expect(fitting({ localRounds: 0, treesPerRound: 3, startTrees: 6 }, 6), "at a start model's end").toEqual([
    6, 7, 8, 9,
  ]);
  expect(fitting({ localRounds: 3, treesPerRound: 3, startTrees: 6 }, 6), "and alone for a round more").toEqual([
    9, 10, 11,
  ]);
  expect(fitting({ localRounds: 0, treesPerRound: 3, startTrees: 6 }, 3), "before it").toEqual([]);
});
