/** A passive party enforces the limits of what its splits reveal against a deviating active party. */
import { beforeAll, describe, expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { drive, type Driver } from "../../../test/support/passive-driver.ts";
import { generateKey, type PrivateKey } from "../../crypto/paillier/index.ts";
import type { Defences } from "../../privacy/defences/defences.ts";
import { bitmapFrom } from "../../wire/bitmap.ts";
import { noProgress, type PassiveProgress } from "./answered-splits.ts";

let key: PrivateKey;
beforeAll(async () => {
  key = await generateKey({ bits: 256, insecure: true });
});

const permutationSecret = Uint8Array.from({ length: 32 }, (_, i) => i);

/** A job's storage, which outlives its roles. */
class Disk {
  progress: PassiveProgress = noProgress;

  async growing(limit: number | Partial<Defences>, trees = 0): Promise<Driver> {
    const defences = typeof limit === "number" ? { max_thresholds: limit } : limit;
    const store = async (progress: PassiveProgress): Promise<void> => void (this.progress = structuredClone(progress));
    const passive = { progress: this.progress, store, permutationSecret };
    const driver = drive(key, passive, { num_round: 3, max_depth: 4 }, defences);
    driver.join({ trees });
    await driver.setUp();
    await driver.gradients(trees);
    return driver;
  }

  /** Of the first feature. */
  get thresholds(): Set<number | undefined> {
    return new Set(this.progress.splits.flatMap(({ feature, threshold }) => (feature === 0 ? [threshold] : [])));
  }
}

const nodesOf = ({ job }: Driver) => job.passives[0].scheme.nodes();

/** The first feature's candidates come first in tie order, both directions of each threshold; this is "right". */
const positionOf = (driver: Driver, node: number, bin: number): number =>
  nodesOf(driver)
    .candidates(node)
    .byPosition.indexOf(2 * bin);

const ask = (driver: Driver, tree: number, node: number, bin: number): Promise<Uint8Array> =>
  driver.splits(tree, node, positionOf(driver, node, bin));

/** Splits a node, into halves unless the members that go left are given. */
async function place(driver: Driver, tree: number, parent: number, child: number, left?: Uint8Array): Promise<void> {
  const { length } = nodesOf(driver).members(parent);
  const members = left ?? bitmapFrom(length, (i) => i % 2 === 0);
  await driver.node(tree, { node: child, origin: { parent, sibling: child + 1, members } });
}

const suppressed = (driver: Driver, node: number): string => nodesOf(driver).task(node).suppressed.join("");

describe("a threshold too many is refused", () => {
  test("below a root that has used the last one, and in the next tree; the used one may be used again", async () => {
    const disk = new Disk();
    const driver = await disk.growing(1);
    await place(driver, 0, 0, 1, await ask(driver, 0, 0, 1));
    await expectError(() => ask(driver, 0, 1, 0), "PROTOCOL_STATE", /is suppressed at node 1/);
    await ask(driver, 0, 1, 1);
    await driver.finishTree(0);
    await driver.gradients(1);
    for (const bin of [0, 2])
      await expectError(() => ask(driver, 1, 0, bin), "PROTOCOL_STATE", /is suppressed at node 0/);
    await ask(driver, 1, 0, 1);
    expect(disk.thresholds.size).toBe(1);
  });

  test("to an active party that redoes a tree differently", async () => {
    const disk = new Disk();
    const left = await ask(await disk.growing(2), 0, 0, 0);
    const again = await disk.growing(2);
    await place(again, 0, 0, 1, left); // without asking for the root's split again
    await ask(again, 0, 1, 1);
    await expectError(() => ask(again, 0, 2, 2), "PROTOCOL_STATE", /more thresholds than max_thresholds allows/);
    expect(disk.thresholds.size).toBe(2);
    await ask(again, 0, 2, 0);
    await expectError(() => again.finishTree(0), "PROTOCOL_STATE", /grown differently before/);
  });
});

describe("a split that would reveal too many bits is refused", () => {
  const limit = { outcome_bits: 0.5 };

  test("at once, and to an active party that redoes a tree differently", async () => {
    const disk = new Disk();
    const bins = [0, 1, 2];
    const [won] = bins;
    const left = await ask(await disk.growing(limit), 0, 0, won);
    // The tree is redone: its root offers the same again, but a node below may not add to what was revealed.
    const again = await disk.growing(limit);
    await place(again, 0, 0, 1, left);
    for (const node of [1, 2])
      for (const bin of bins.filter((each) => each !== won))
        await expectError(
          () => ask(again, 0, node, bin),
          "PROTOCOL_STATE",
          /is suppressed at node|more than outcome_bits allows/,
        );
    expect(disk.thresholds.size).toBe(1);
  });

  test("a used threshold may be used again", async () => {
    const disk = new Disk();
    const driver = await disk.growing({ outcome_bits: 1 });
    await place(driver, 0, 0, 1, await ask(driver, 0, 0, 1));
    await ask(driver, 0, 1, 1);
    await driver.finishTree(0);
    await driver.gradients(1);
    await ask(driver, 1, 0, 1);
    expect(disk.thresholds.size).toBe(1);
  });
});

test("after a crash within a tree the same candidates are offered, and training continues the same", async () => {
  const grow = async (driver: Driver, steps: number): Promise<string[]> => {
    const seen: string[] = [];
    const left: Uint8Array[] = [];
    const script = [
      async () => void (left[0] = await ask(driver, 1, 0, 1)),
      () => place(driver, 1, 0, 1, left[0]),
      async () => void (left[1] = await ask(driver, 1, 1, 0)),
      () => place(driver, 1, 2, 3),
      () => place(driver, 1, 1, 5, left[1]),
    ];
    for (const [i, step] of script.slice(0, steps).entries()) {
      seen.push(...(i === 0 ? [suppressed(driver, 0)] : []));
      await step();
      if (i > 0 && i !== 2) seen.push(suppressed(driver, [0, 1, 0, 3, 5][i]), suppressed(driver, [0, 2, 0, 4, 6][i]));
    }
    return seen;
  };
  const begin = async (disk: Disk): Promise<Driver> => {
    const driver = await disk.growing(3);
    await ask(driver, 0, 0, 0);
    await driver.finishTree(0);
    await driver.gradients(1);
    return driver;
  };
  const [whole, broken] = [new Disk(), new Disk()];
  const expected = await grow(await begin(whole), 5);
  expect(new Set(expected).size, "some candidate is suppressed").toBeGreaterThan(1);
  await grow(await begin(broken), 3);
  expect(await grow(await broken.growing(3, 1), 4)).toEqual(expected.slice(0, 5));
  expect(await grow(await broken.growing(3, 1), 5)).toEqual(expected);
  expect(broken.progress).toEqual(whole.progress);
});
