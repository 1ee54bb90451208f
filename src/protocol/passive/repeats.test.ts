/** Messages that arrive twice, late, or again after a crash: the same answer, or a refusal that changes nothing. */
import { create } from "@bufbuild/protobuf";
import { beforeAll, describe, expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { column, drive, type Driver } from "../../../test/support/passive-driver.ts";
import { keptAnswers } from "../../../test/support/passive-disk.ts";
import { collect, one } from "../../../test/support/streams.ts";
import { TandemError } from "../../base/error.ts";
import { generateKey, type PrivateKey } from "../../crypto/paillier/index.ts";
import { bitmapFrom } from "../../wire/bitmap.ts";
import {
  type ActiveGradients,
  ActiveJobFinishedSchema,
  ActiveSetUpSchema,
} from "../../wire/generated/tandem/v1/tandem_pb.ts";
import { noProgress, type PassiveProgress } from "./answered-splits.ts";
import type { RoundStore } from "./round-store.ts";

let key: PrivateKey;
beforeAll(async () => {
  key = await generateKey({ bits: 256, insecure: true });
});

const permutationSecret = Uint8Array.from({ length: 32 }, (_, i) => i);

/** A storage that outlives roles, as a disk outlives processes. */
class Disk {
  progress: PassiveProgress = noProgress;
  isFull = false;
  writes = 0;

  role(finished = false, roundStore?: RoundStore): Driver {
    const store = async (progress: PassiveProgress): Promise<void> => {
      await Promise.resolve();
      if (this.isFull) throw new TandemError("FILE_UNWRITABLE", "full");
      this.writes++;
      this.progress = structuredClone(progress) as PassiveProgress;
    };
    const rounds = roundStore === undefined ? {} : { roundStore };
    return drive(key, { progress: this.progress, store, finished, permutationSecret, ...rounds });
  }

  async growing(trees = 0, roundStore?: RoundStore): Promise<Driver> {
    const driver = this.role(false, roundStore);
    driver.join({ trees });
    await driver.setUp();
    await driver.gradients(trees);
    return driver;
  }
}

describe("on one connection", () => {
  test("join and set-up: the same answer to the same message, a refusal to another", async () => {
    const driver = new Disk().role();
    const answer = driver.join();
    expect(driver.join()).toEqual(answer);
    await expectError(() => driver.join({ activeName: "another" }), "PROTOCOL_STATE", /is joined and cannot take/);
    const count = await driver.setUp();
    await driver.gradients(0);
    const before = await driver.root(0);
    expect(await driver.setUp()).toBe(count);
    await expectError(() => driver.role.setUp(create(ActiveSetUpSchema, {})), "PROTOCOL_STATE", /is growing/);
    expect(await driver.root(0)).toHaveLength((before as unknown[]).length);
    expect(driver.job.observed.filter(([, event]) => event === "joined")).toHaveLength(1);
  });

  test("set-ups at the same time: the first counts, its copy gets its answer, another is refused", async () => {
    const driver = new Disk().role();
    driver.join();
    const message = await driver.setUpMessage();
    const [first, other, copy] = [message, create(ActiveSetUpSchema, {}), message].map((sent) =>
      driver.role.setUp(sent),
    );
    other.catch(() => {});
    expect(await copy).toBe(await first);
    await expectError(() => other, "PROTOCOL_STATE", /is ready/);
    await driver.gradients(0);
  });

  test("a job that ends while it is being set up stays ended", async () => {
    const driver = new Disk().role();
    driver.join();
    const setUp = driver.role.setUp(await driver.setUpMessage());
    for (let i = 0; i < 5; i++) await Promise.resolve(); // it is at the proof
    driver.role.finishJob(create(ActiveJobFinishedSchema, { failure: "tired" }));
    await expectError(() => setUp, "PROTOCOL_STATE");
    await expectError(() => driver.gradients(0), "PROTOCOL_STATE");
  });

  test("a second copy of gradients waits for the first, and changes nothing", async () => {
    const driver = new Disk().role();
    driver.join();
    await driver.setUp();
    const chunks = await collect(driver.chunks(0));
    let release = (): void => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    async function* slowly(): AsyncGenerator<ActiveGradients> {
      yield chunks[0];
      await held;
      yield* chunks.slice(1);
    }
    const first = driver.role.answers.gradients(slowly());
    const second = driver.role.answers.gradients(each(chunks));
    const order: string[] = [];
    void first.then(() => order.push("first"));
    void second.then(() => order.push("second"));
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(order).toEqual([]);
    await expectError(() => driver.root(0), "PROTOCOL_STATE", /is loading/);
    release();
    await Promise.all([first, second]);
    await driver.splits(0, 0, 0);
    await driver.role.answers.gradients(each(chunks)); // later still
    await driver.splits(0, 0, 0);
    await driver.finishTree(0);
    await driver.role.answers.gradients(each(chunks));
    expect(driver.job.observed.filter(([, event]) => event === "roundBegan")).toEqual([["passive-1", "roundBegan", 0]]);
    await driver.gradients(1);
    await expectError(() => driver.role.answers.gradients(each(chunks)), "PROTOCOL_STATE", /is growing/);
    await driver.finishTree(1);
  });

  test("gradients that break off: the tree has not begun, and can", async () => {
    const driver = new Disk().role();
    driver.join();
    await driver.setUp();
    async function* broken(): AsyncGenerator<ActiveGradients> {
      const [first] = await collect(driver.chunks(0));
      yield first;
      throw new Error("cut");
    }
    await expect(driver.role.answers.gradients(broken())).rejects.toThrow("cut");
    await expectError(() => driver.role.answers.gradients(each([])), "PROTOCOL_STATE", /without a single chunk/);
    await driver.gradients(0);
    await driver.finishTree(0);
  });

  test("a node's members stay what they are", async () => {
    const driver = await new Disk().growing();
    const members = bitmapFrom(column.length, (i) => i < 4);
    const origin = { parent: 0, sibling: 2, members };
    await driver.node(0, { node: 1, origin });
    await driver.node(0, { node: 1, origin });
    await expectError(
      () => driver.node(0, { node: 1, origin: { ...origin, members: bitmapFrom(column.length, (i) => i < 5) } }),
      "PROTOCOL_STATE",
      /nodes 1 and 2 differ from the earlier children of node 0/,
    );
  });

  test("splits twice, also at the same time: one write, the same answer", async () => {
    const disk = new Disk();
    const driver = await disk.growing();
    const [a, b] = await Promise.all([driver.splits(0, 0, 0), driver.splits(0, 0, 0)]);
    expect(a).toEqual(b);
    expect(driver.role.ownSplits).toHaveLength(1);
    expect(disk.writes, "the round's beginning, and the split").toBe(2);
  });

  test("the end of a tree and of a job twice", async () => {
    const disk = new Disk();
    const driver = await disk.growing();
    await Promise.all([driver.finishTree(0), driver.finishTree(0)]);
    await driver.gradients(1);
    await driver.finishTree(0);
    await driver.finishTree(1);
    expect(disk.writes, "each tree's beginning and end").toBe(4);
    for (const failure of ["", "", "too late to give up"])
      driver.role.finishJob(create(ActiveJobFinishedSchema, { failure, treeCount: 2 }));
    expect(() => driver.role.finishJob(create(ActiveJobFinishedSchema, { treeCount: 1 }))).toThrow(
      /keeps 2 trees, not 1/,
    );
    await expectError(() => driver.predict(["id-0"]), "PROTOCOL_STATE", /prediction ids differ/);
  });
});

describe("after a crash", () => {
  test("what was answered is stored: the same question gets the same answer, another is refused", async () => {
    const disk = new Disk();
    const before = await (await disk.growing()).splits(0, 0, 3);
    expect(disk.progress.splits).toHaveLength(1);
    const again = await disk.growing();
    await expectError(() => again.splits(0, 0, 4), "PROTOCOL_STATE", /node 0 is already split differently/);
    expect(await again.splits(0, 0, 3)).toEqual(before);
    expect(again.role.ownSplits).toHaveLength(1);
  });

  test("the same request with other members is refused", async () => {
    const disk = new Disk();
    const origin = (count: number) => ({ parent: 0, sibling: 2, members: bitmapFrom(column.length, (i) => i < count) });
    const first = await disk.growing();
    await first.node(0, { node: 1, origin: origin(5) });
    await first.splits(0, 1, 3);
    const again = await disk.growing();
    await again.node(0, { node: 1, origin: origin(6) });
    await expectError(() => again.splits(0, 1, 3), "PROTOCOL_STATE", /node 1 is already split differently/);
  });

  test("a tree that was finished here and not there is redone, and only in the same way", async () => {
    const disk = new Disk();
    const answers = keptAnswers();
    const first = await disk.growing(0, answers);
    const left = await first.splits(0, 0, 3);
    await first.finishTree(0);
    const again = await disk.growing(0, answers);
    await expectError(
      () => again.finishTree(0),
      "PROTOCOL_STATE",
      /tree 0 was grown differently before: node 0 was requested/,
    );
    await again.root(0);
    await expectError(
      () => again.finishTree(0),
      "PROTOCOL_STATE",
      /tree 0 was grown differently before: node 0 was split/,
    );
    await expectError(() => again.splits(0, 0, 4), "PROTOCOL_STATE", /node 0 is already split differently/);
    expect(await again.splits(0, 0, 3)).toEqual(left);
    await again.finishTree(0);
    expect(disk.progress).toMatchObject({ trees: 1, splits: [{ tree: 0, node: 0 }] });
    await again.gradients(1);
    await again.finishTree(1);
    expect(Object.keys(disk.progress.members), "of trees that can be redone").toEqual([]);
  });

  test.each([
    [0, 2],
    [3, 2],
    [2, 0],
  ])("the active party has %i trees and this one %i: they are inconsistent", async (theirs, ours) => {
    const disk = new Disk();
    disk.progress = { ...noProgress, trees: ours };
    await expectError(
      () => disk.role().join({ trees: theirs }),
      "CHECKPOINT",
      new RegExp(`passive-1 has stored ${ours} trees of this job and the active party ${theirs}`),
    );
  });

  test("a job that has ended well answers for predictions and its end, and for nothing else", async () => {
    const disk = new Disk();
    const driver = await disk.growing();
    await driver.splits(0, 0, 3);
    await driver.finishTree(0);
    await driver.gradients(1);
    await driver.finishTree(1);
    await driver.testRows(["id-0"]);
    const finished = disk.role(true);
    expect(finished.join({ trees: 2 })).toMatchObject({ trees: 2, finished: true });
    expect(await finished.predict(["id-0"])).toHaveLength(1);
    finished.role.finishJob(create(ActiveJobFinishedSchema, {}));
    await expectError(() => finished.setUp(), "PROTOCOL_STATE", /is finished/);
    await expectError(() => finished.gradients(1), "PROTOCOL_STATE", /is finished/);
    await expectError(() => disk.role(true).join({ trees: 1 }), "CHECKPOINT");
  });

  test("splits of a tree that is to be redone are not predicted with", async () => {
    const disk = new Disk();
    const driver = await disk.growing();
    await driver.splits(0, 0, 3);
    const again = disk.role();
    again.join();
    expect(await again.predict(["id-0"])).toEqual([]);
  });
});

test("what cannot be stored is not answered, and not remembered", async () => {
  const disk = new Disk();
  const driver = await disk.growing();
  disk.isFull = true;
  await expectError(() => driver.splits(0, 0, 3), "FILE_UNWRITABLE");
  expect(driver.role.ownSplits).toEqual([]);
  await expectError(() => driver.finishTree(0), "FILE_UNWRITABLE");
  disk.isFull = false;
  await driver.splits(0, 0, 4);
  await driver.finishTree(0);
  expect(disk.progress.trees).toBe(1);
});

async function* each<T>(items: readonly T[]): AsyncGenerator<T> {
  for (const item of items) yield* one(item);
}
