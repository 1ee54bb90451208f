/**
 * Waits for changes in a folder, by a watch of the operating system. Where that fails (a folder that does not exist
 * yet, no watches left), and periodically in any case (network folders), the caller is woken to check.
 */
import { type FSWatcher, watch } from "node:fs";

const checkMs = { watched: 1000, unwatched: 80 };

export class FolderChanges {
  readonly #watcher: FSWatcher | null;
  readonly #checkMs: number;
  readonly #ending: AbortSignal;
  #changed = false;
  #wake: (() => void) | null = null;

  /** @param ending aborts all waiting */
  constructor(folder: string, ending: AbortSignal, watchedMs: number = checkMs.watched) {
    this.#ending = ending;
    this.#watcher = watcherOf(folder, () => {
      this.#changed = true;
      this.#wake?.();
    });
    this.#checkMs = this.#watcher === null ? checkMs.unwatched : watchedMs;
  }

  /** Waits for a change since the last call, or for the next check. @returns whether the server is closing */
  async next(): Promise<boolean> {
    if (!this.#changed) await this.#pause(this.#checkMs, true);
    this.#changed = false;
    return this.#ending.aborted;
  }

  /** Ignores further changes for this time. @returns whether the server is closing */
  async settle(ms: number): Promise<boolean> {
    await this.#pause(ms, false);
    this.#changed = false;
    return this.#ending.aborted;
  }

  close(): void {
    this.#watcher?.close();
  }

  #pause(ms: number, wakeable: boolean): Promise<void> {
    if (this.#ending.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#ending.removeEventListener("abort", done);
        this.#wake = null;
        resolve();
      };
      const timer = setTimeout(done, ms);
      this.#ending.addEventListener("abort", done);
      if (wakeable) this.#wake = done;
    });
  }
}

function watcherOf(folder: string, changed: () => void): FSWatcher | null {
  try {
    // If the watch fails later, periodic checks remain.
    return watch(folder, { persistent: false }, changed).on("error", () => {});
  } catch {
    return null;
  }
}
