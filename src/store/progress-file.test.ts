/**
 * The progress of a passive party's job: what is read is what was stored last, whatever interrupted the write after.
 */
import { expect, test } from "vitest";
import { expectError } from "../../test/support/expect-error.ts";
import { MemoryDisk } from "../../test/support/memory-disk.ts";
import type { Storage } from "../base/files/storage.ts";
import { noProgress, type PassiveProgress } from "../protocol/passive/progress.ts";
import { readProgress } from "./passive-checkpoint.ts";
import { ProgressFile } from "./progress-file.ts";

const path = "j/progress.json";
const jobId = "aa";

/** Of a tree with two splits: its round begins, each split is stored, and the end of the tree. */
function stepsOf(tree: number, before: PassiveProgress): readonly PassiveProgress[] {
  const split = (node: number) => ({ tree, node, feature: 1, featureName: "f", threshold: 0.5, defaultLeft: true });
  const begun = { ...before, setUp: "01", round: { tree, sample: "02" } };
  const first = { ...begun, splits: [...begun.splits, split(0)], members: { [`${tree}/0`]: "ab" } };
  const second = { ...first, splits: [...first.splits, split(2)], sides: { [`${tree}/2`]: "cd" } };
  return [begun, first, second, { ...second, trees: tree + 1, members: {}, sides: {} }];
}

function stepsOfTrees(count: number): readonly PassiveProgress[] {
  const steps: PassiveProgress[] = [noProgress];
  for (let tree = 0; tree < count; tree++) steps.push(...stepsOf(tree, steps[steps.length - 1]));
  return steps.slice(1);
}

/** A disk that counts its writes. */
function counted(disk: MemoryDisk): { readonly storage: Storage; readonly counts: { whole: number; lines: number } } {
  const counts = { whole: 0, lines: 0 };
  const storage = disk.storage();
  return {
    counts,
    storage: {
      ...storage,
      write: (...call) => {
        counts.whole++;
        return storage.write(...call);
      },
      append: (...call) => {
        counts.lines++;
        return storage.append(...call);
      },
    },
  };
}

test("the first step of an attempt is written as a whole, later ones as lines, and each is read back", async () => {
  const disk = new MemoryDisk();
  const { storage, counts } = counted(disk);
  const steps = stepsOfTrees(5);
  for (const part of [steps.slice(0, 7), steps.slice(7)]) {
    const file = new ProgressFile("j", jobId, storage);
    for (const step of part) {
      await file.store(step);
      expect(await readProgress("j", jobId, storage)).toEqual(step);
    }
  }
  expect(counts).toEqual({ whole: 2, lines: steps.length - 2 });
  expect(await readProgress("j", "bb", storage)).toEqual(noProgress);
});

test("a last step that is incomplete is none, and the next attempt continues", async () => {
  const disk = new MemoryDisk();
  const storage = disk.storage();
  const [first, second, third] = stepsOf(0, noProgress);
  const file = new ProgressFile("j", jobId, storage);
  await file.store(first);
  await file.store(second);
  const before = disk.text(path) ?? "";
  await file.store(third);
  const whole = disk.text(path) ?? "";
  for (let length = before.length; length < whole.length; length++) {
    disk.put(path, whole.slice(0, length));
    expect(await readProgress("j", jobId, storage)).toEqual(second);
  }
  await new ProgressFile("j", jobId, storage).store(third);
  expect(await readProgress("j", jobId, storage)).toEqual(third);
});

test("a step that is missing or damaged is an error", async () => {
  const disk = new MemoryDisk();
  const storage = disk.storage();
  const file = new ProgressFile("j", jobId, storage);
  for (const step of stepsOfTrees(2)) await file.store(step);
  const lines = (disk.text(path) ?? "").split("\n\n");
  disk.put(path, [...lines.slice(0, 3), ...lines.slice(4)].join("\n\n"));
  await expectError(() => readProgress("j", jobId, storage), "CHECKPOINT", /step 3 is missing\. Restore the file/);
  disk.put(path, lines.join("\n\n").replace('"number":3', '"number":4'));
  await expectError(
    () => readProgress("j", jobId, storage),
    "CHECKPOINT",
    /checksum does not match\. Restore the file/,
  );
  const whole = lines.join("\n\n");
  const [from, to] = [lines[0].length, whole.length - lines[lines.length - 1].length - 2];
  for (let at = from; at < to; at++) {
    disk.put(path, whole.slice(0, at) + String.fromCharCode(whole.charCodeAt(at) ^ 1) + whole.slice(at + 1));
    await expectError(() => readProgress("j", jobId, storage), "CHECKPOINT", /Restore the file/);
  }
  disk.put(path, lines.slice(1).join("\n\n"));
  await expectError(() => readProgress("j", jobId, storage), "CHECKPOINT", /has the format tandem-passive-step/);
});

test("after a write that failed the file is written as a whole", async () => {
  const disk = new MemoryDisk();
  const { storage, counts } = counted(disk);
  let isFull = false;
  const file = new ProgressFile("j", jobId, {
    ...storage,
    append: async (to, contents) => {
      await storage.append(to, isFull ? String(contents).slice(0, 40) : contents);
      if (isFull) throw new Error("the disk is full");
    },
  });
  const [first, second, third, last] = stepsOf(0, noProgress);
  await file.store(first);
  isFull = true;
  await expect(file.store(second)).rejects.toThrow("full");
  expect(await readProgress("j", jobId, storage)).toEqual(first);
  isFull = false;
  await file.store(second);
  await file.store(third);
  await file.store(last);
  expect(await readProgress("j", jobId, storage)).toEqual(last);
  expect(counts).toEqual({ whole: 2, lines: 3 });
});

test("a file with many lines is written as a whole again", async () => {
  const { storage, counts } = counted(new MemoryDisk());
  const file = new ProgressFile("j", jobId, storage);
  const members = { "0/0": "ab".repeat(200_000) };
  let progress: PassiveProgress = noProgress;
  for (let trees = 0; trees < 12; trees++) {
    progress = { ...noProgress, trees, members: trees === 0 ? {} : members };
    await file.store(progress);
  }
  expect(counts).toEqual({ whole: 3, lines: 9 });
  expect(await readProgress("j", jobId, storage)).toEqual(progress);
});
