/**
 * The progress of a passive party's job, as one attempt stores it: several times per tree. The first time the file is
 * written as a whole; after that a line is appended, with one sync instead of two, and without the splits of earlier
 * trees. A process that dies leaves at most one incomplete line, which was never confirmed and is ignored. Nothing is
 * appended after it: the next attempt writes the file as a whole again.
 */
import type { Storage } from "../base/files/storage.ts";
import type { PassiveProgress } from "../protocol/passive/progress.ts";
import { addProgressStep, writeProgress } from "./passive-checkpoint.ts";

/** The file is written as a whole when its lines have this many times the characters of that, and at least */
const addedTimesMax = 4;
/** this many. */
const addedMin = 1 << 20;

/** What the file holds. */
interface Written {
  readonly splits: number;
  readonly steps: number;
  /** Characters of the part that was written as a whole, and of the lines after it. */
  readonly whole: number;
  readonly added: number;
}

export class ProgressFile {
  readonly #folder: string;
  readonly #jobId: string;
  readonly #storage: Storage;
  /** Null before the first write, and after one that failed: it may have reached the disk. */
  #written: Written | null = null;

  constructor(folder: string, jobId: string, storage: Storage) {
    this.#folder = folder;
    this.#jobId = jobId;
    this.#storage = storage;
  }

  /** One after the other. @param progress at least the splits that were stored before */
  async store(progress: PassiveProgress): Promise<void> {
    const before = this.#written;
    this.#written = null;
    const splits = progress.splits.length;
    const isWhole = before === null || before.added > Math.max(addedMin, addedTimesMax * before.whole);
    if (isWhole) {
      const whole = await writeProgress(this.#folder, this.#jobId, progress, this.#storage);
      this.#written = { splits, steps: 0, whole, added: 0 };
      return;
    }
    const steps = before.steps + 1;
    const added = await addProgressStep(this.#folder, steps, before.splits, progress, this.#storage);
    this.#written = { splits, steps, whole: before.whole, added: before.added + added };
  }
}
