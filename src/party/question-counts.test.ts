/** Masked scores are counted per person and model before they are answered, whatever crashes when. */
import { expect, test } from "vitest";
import { expectError } from "../../test/support/expect-error.ts";
import { MemoryDisk } from "../../test/support/memory-disk.ts";
import { TandemError } from "../base/error.ts";
import type { Storage } from "../base/files/storage.ts";
import { QuestionCounts } from "./question-counts.ts";

const own = { party: "shop", directory: "jobs", ownFiles: <T>(work: () => Promise<T>): Promise<T> => work() };
const counting = (disk: MemoryDisk, limit: number, storage = disk.storage()): QuestionCounts =>
  new QuestionCounts({ ...own, limit, storage });

test("per person, model and partner, over restarts; a request is counted as a whole or not at all", async () => {
  const disk = new MemoryDisk();
  const before = counting(disk, 2);
  await before.charge("bank", "m1", ["ann", "bob"]);
  await before.charge("bank", "m1", ["ann"]);
  const after = counting(disk, 2);
  await expectError(() => after.charge("bank", "m1", ["bob", "ann"]), "POLICY", /allows 2 masked .* 1 of the people/);
  await after.charge("bank", "m1", ["bob"]);
  await expectError(() => after.charge("bank", "m1", ["bob"]), "POLICY");
  await after.charge("bank", "m2", ["ann", "bob"]);
  await after.charge("rival", "m1", ["ann"]);
  await after.charge("bank", "m1", []);
});

test("a person who is named twice in a request counts twice", async () => {
  const counts = counting(new MemoryDisk(), 3);
  await expectError(() => counts.charge("bank", "m", ["ann", "ann", "ann", "ann"]), "POLICY");
  await counts.charge("bank", "m", ["ann", "ann", "ann"]);
  await expectError(() => counts.charge("bank", "m", ["ann"]), "POLICY");
});

test("the files contain no id", async () => {
  const disk = new MemoryDisk();
  await counting(disk, 2).charge("bank", "m", ["ann"]);
  expect(disk.paths).toHaveLength(1);
  expect(disk.allText + disk.paths.join("")).not.toMatch(/ann|bank/);
});

/** A disk whose process dies in one of its writes: nothing, a part or all of it is there. */
function dying(disk: MemoryDisk, at: number, share: number): Storage {
  const storage = disk.storage();
  let writes = 0;
  const died = (): TandemError => new TandemError("FILE_UNWRITABLE", "the process was killed");
  return {
    ...storage,
    async append(path, contents) {
      if (writes++ < at) return storage.append(path, contents);
      if (writes === at + 1) disk.add(path, Buffer.from(contents).subarray(0, Math.floor(contents.length * share)));
      throw died();
    },
    async write(path, contents) {
      if (writes++ < at) return storage.write(path, contents);
      throw died();
    },
  };
}

test("a kill at any write never lowers a count", async () => {
  const limit = 5;
  for (let at = 0; at < 7; at++) {
    for (const share of [0, 0.3, 0.5, 0.95, 1]) {
      const disk = new MemoryDisk();
      const answered = new Map<string, number>();
      const ask = async (counts: QuestionCounts, ids: readonly string[]): Promise<void> => {
        await counts.charge("bank", "m", ids);
        for (const id of ids) answered.set(id, (answered.get(id) ?? 0) + 1);
      };
      const first = counting(disk, limit, dying(disk, at, share));
      for (let i = 0; i < 4; i++) await ask(first, ["ann", "bob"]).catch(() => {});
      // A second process dies too, in its first writes; the third is asked as often as it answers.
      const second = counting(disk, limit, dying(disk, at % 3, share));
      for (let i = 0; i < 4; i++) await ask(second, ["bob", "cem"]).catch(() => {});
      const last = counting(disk, limit);
      for (const id of ["ann", "bob", "cem"]) for (let i = 0; i < 9; i++) await ask(last, [id]).catch(() => {});
      for (const id of ["ann", "bob", "cem"]) {
        expect(answered.get(id)).toBeLessThanOrEqual(limit);
        // Each of the two deaths counts one too many at most, and another person's records stay in their places.
        expect(answered.get(id)).toBeGreaterThanOrEqual(limit - 2);
      }
    }
  }
});
