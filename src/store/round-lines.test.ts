/** Appended rounds restore a checkpoint's margins bit for bit, and inconsistent ones are rejected. */
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { expectError } from "../../test/support/expect-error.ts";
import { MemoryDisk } from "../../test/support/memory-disk.ts";
import { SeededRandom } from "../base/random.ts";
import { addLeafWeights } from "../gbdt/boost/train.ts";
import type { ActiveProgress, StoredRound } from "../protocol/active/role.ts";
import { paillier, PaillierSecret } from "../scheme/paillier/paillier.ts";
import { generateKey } from "../crypto/paillier/index.ts";
import { checkpointPath, readActiveCheckpoint, writeActiveCheckpoint } from "./active-checkpoint.ts";
import { narrow, widened } from "../gbdt/tree/narrow-leaves.ts";
import { addRoundLine } from "./round-lines.ts";

const files = new MemoryDisk();
const storage = files.storage();
const path = checkpointPath("jobs/j");
const jobId = Uint8Array.of(1, 2, 255);
const instanceCount = 50;
const outputCount = 2;
const random = new SeededRandom("round-lines");

/** A tree that is a chain: every odd node is a leaf, and so is the last. */
function chain(splits: number): StoredRound["trees"][number] {
  const numbers = { cover: 1, count: 1 };
  const leaf = () => ({ kind: "leaf" as const, weight: random.uniform() - 0.5, ...numbers });
  const tree = Array.from({ length: splits }, (_, i) => [
    { kind: "split" as const, left: 2 * i + 1, right: 2 * i + 2, gain: 1, ...numbers, rule: { owner: 1 } },
    leaf(),
  ]).flat();
  return [...tree, leaf()];
}

function roundOf(sizes: readonly number[]): StoredRound {
  const trees = sizes.map(chain);
  const leaves = trees.map((tree) =>
    Uint32Array.from({ length: instanceCount }, () => Math.min(tree.length - 1, 2 * random.below(tree.length) + 1)),
  );
  return { trees, leaves };
}

let progress: ActiveProgress;
let secret: PaillierSecret;
beforeAll(async () => {
  secret = new PaillierSecret(await generateKey({ bits: 256, insecure: true }));
});
beforeEach(async () => {
  files.clear();
  const margins = Float64Array.from({ length: instanceCount * outputCount }, () => random.uniform());
  progress = { trees: [], margins, best: null };
  const job = {
    identity: {},
    jobId,
    secret,
    seed: new Uint8Array(32),
    samplingSecret: "s",
    aligned: null,
    start: null,
  };
  await writeActiveCheckpoint("jobs/j", { ...job, progress }, storage);
});

async function add(sizes: readonly number[], of = jobId): Promise<StoredRound> {
  const round = roundOf(sizes);
  const margins = progress.margins.slice();
  round.trees.forEach((tree, i) =>
    addLeafWeights(margins, outputCount, progress.trees.length + i, tree, round.leaves[i]),
  );
  const best = { round: progress.trees.length, value: random.uniform() };
  progress = { trees: [...progress.trees, ...round.trees], margins, best };
  await addRoundLine(path, of, progress, round, storage);
  return round;
}

const read = async (): Promise<ActiveProgress | null | undefined> =>
  (await readActiveCheckpoint("jobs/j", paillier, storage))?.progress;
const bits = ({ margins }: ActiveProgress): BigUint64Array => new BigUint64Array(margins.slice().buffer);

test("rounds of trees of any size are restored bit for bit", async () => {
  for (const sizes of [
    [1, 3],
    [0, 2],
    [127, 128],
    [130, 2],
    [2, 2],
  ]) {
    await add(sizes);
    const back = await read();
    expect(back?.trees).toEqual(progress.trees);
    expect(back?.best).toEqual(progress.best);
    expect(back && bits(back)).toEqual(bits(progress));
  }
});

test.each([
  [1, 256, 255],
  [2, 257, 256],
  [2, 65_536, 65_535],
  [4, 65_537, 65_536],
])("%i bytes hold the nodes of a tree of %i", (bytes, treeSize, largest) => {
  const leaves = Uint32Array.of(0, largest, 1);
  const narrowed = narrow(leaves, treeSize);
  expect(narrowed.byteLength).toBe(3 * bytes);
  expect(widened(new Uint8Array(narrowed.buffer), treeSize)).toEqual(leaves);
});

test("a round whose write was interrupted is ignored, also when others follow", async () => {
  await add([1, 2]);
  const whole = files.text(path) ?? "";
  const before = progress;
  await add([2, 1]);
  const added = (files.text(path) ?? "").slice(whole.length);
  for (const length of [1, 40, added.length - 2, added.length - 1]) {
    files.put(path, whole + added.slice(0, length));
    progress = before;
    expect((await read())?.trees).toEqual(before.trees);
    await add([3, 3]);
    const back = await read();
    expect(back && bits(back)).toEqual(bits(progress));
  }
});

describe("a checkpoint is rejected", () => {
  const expectRefused = (): Promise<unknown> =>
    expectError(read, "CHECKPOINT", /^jobs\/j\/checkpoint\.json .*start again/);

  test("with a round of another job, or without one in between, or one twice", async () => {
    await add([1, 1]);
    const first = files.text(path) ?? "";
    await add([1, 1], Uint8Array.of(3));
    await expectRefused();
    files.put(path, first);
    await add([1, 1]); // the earlier trees are gone
    await expectRefused();
    files.put(path, first + first.slice(first.indexOf("\n")));
    await expectRefused();
  });

  test("with a changed bit, with instances at a split, and with a wrong number of instances", async () => {
    await add([1, 1]);
    const text = files.text(path) ?? "";
    files.put(path, text.replace('"leaves":["', '"leaves":["A'));
    await expectRefused();
    files.put(path, text.slice(0, text.indexOf("\n") + 1));
    for (const leaves of [new Uint32Array(instanceCount), new Uint32Array(instanceCount - 1).fill(1)]) {
      files.put(path, text.slice(0, text.indexOf("\n") + 1));
      const round = { trees: [chain(1)], leaves: [leaves] };
      await addRoundLine(path, jobId, { ...progress, trees: round.trees }, round, storage);
      await expectRefused();
    }
  });
});
