/** A dart checkpoint restores leaves, weights and margins bit for bit, and inconsistent ones are rejected. */
import { beforeAll, beforeEach, expect, test } from "vitest";
import { expectError } from "../../test/support/expect-error.ts";
import { MemoryDisk } from "../../test/support/memory-disk.ts";
import { resolveParameters } from "../base/parameters/parameters.ts";
import { trainingParameters } from "../gbdt/parameters/training-parameters.ts";
import { SeededRandom } from "../base/random.ts";
import { generateKey } from "../crypto/paillier/index.ts";
import { DartCourse, type DartProgress } from "../gbdt/boost/dart/course.ts";
import { placed } from "../gbdt/boost/dart/placed-tree.ts";
import type { ActiveProgress, StoredRound } from "../protocol/active/role.ts";
import { paillier, PaillierSecret } from "../scheme/paillier/paillier.ts";
import { checkpointPath, readActiveCheckpoint, writeActiveCheckpoint } from "./active-checkpoint.ts";
import { addRoundLine } from "./round-lines.ts";

const files = new MemoryDisk();
const storage = files.storage();
const path = checkpointPath("jobs/j");
const jobId = Uint8Array.of(7);
const people = 40;
const random = new SeededRandom("dart-checkpoint");
const parameters = resolveParameters(trainingParameters, { booster: "dart", rate_drop: 0.5, one_drop: true });

let secret: PaillierSecret;
let course: DartCourse;
let margins: Float64Array;
let trees: StoredRound["trees"][number][];
beforeAll(async () => {
  secret = new PaillierSecret(await generateKey({ bits: 256, insecure: true }));
});
beforeEach(() => {
  files.clear();
  const start = Float64Array.from({ length: people }, () => random.normal());
  course = new DartCourse(parameters, 1, { start, placed: [], weights: [] });
  margins = start.slice();
  trees = [];
});

function stump(): StoredRound["trees"][number] {
  const numbers = { cover: 1, count: 1 };
  const leaf = () => ({ kind: "leaf" as const, weight: Math.fround(random.normal()), ...numbers });
  return [{ kind: "split", left: 1, right: 2, gain: 1, ...numbers, rule: { owner: 1 } }, leaf(), leaf()];
}

async function grow(endsBoostingRound = true): Promise<StoredRound> {
  await course.marginsForGradients(trees.length, margins);
  const tree = stump();
  const leaves = Uint32Array.from({ length: people }, () => 1 + random.below(2));
  course.add(tree, leaves);
  if (endsBoostingRound) await course.endBoostingRound(margins);
  trees.push(tree);
  return { trees: [tree], leaves: [leaves] };
}

const progressNow = (): ActiveProgress => ({
  trees: [...trees],
  margins: margins.slice(),
  best: { round: 0, value: 0.5, metrics: Float64Array.of(1), treeWeights: course.weights },
  dart: course.progress,
});
const write = (progress: ActiveProgress): Promise<void> =>
  writeActiveCheckpoint(
    "jobs/j",
    {
      identity: {},
      jobId,
      secret,
      seed: new Uint8Array(32),
      samplingSecret: "s",
      aligned: null,
      start: null,
      progress,
    },
    storage,
  );
const read = async (): Promise<ActiveProgress | null | undefined> =>
  (await readActiveCheckpoint("jobs/j", paillier, storage))?.progress;

test("written whole, with rounds added, and in the middle of a boosting round", async () => {
  await grow();
  await write(progressNow());
  expect(await read()).toEqual(progressNow());
  for (const endsBoostingRound of [true, true, false, true]) {
    const round = await grow(endsBoostingRound);
    await addRoundLine(path, jobId, progressNow(), round, storage);
    expect(await read()).toEqual(progressNow());
  }
  expect(new Set(course.weights).size).toBeGreaterThan(2);
  await write(progressNow());
  expect(await read()).toEqual(progressNow());
});

test.each<[string, (dart: DartProgress) => DartProgress]>([
  ["a tree's leaves are missing", (dart) => ({ ...dart, placed: dart.placed.slice(1) })],
  ["there are more weights than trees", (dart) => ({ ...dart, weights: [...dart.weights, 1] })],
  ["the number of initial margins differs", (dart) => ({ ...dart, start: dart.start.slice(1) })],
  [
    "an instance ends at a split",
    (dart) => ({ ...dart, placed: dart.placed.map((_, t) => placed(trees[t], new Uint32Array(people))) }),
  ],
])("it is rejected if %s", async (_what, changed) => {
  await grow();
  await grow();
  const progress = progressNow();
  await write({ ...progress, dart: changed(course.progress) });
  await expectError(read, "CHECKPOINT", /^jobs\/j\/checkpoint\.json .*start again/);
});
