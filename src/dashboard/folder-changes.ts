/**
 * Waits until something in a folder changes. The operating system says so; where it cannot (a folder that is not there
 * yet, no watches left), and now and then anyway (folders on other machines), whoever waits is told to look.
 */
import { type FSWatcher, watch } from "node:fs";

const lookMs = { watched: 1000, unwatched: 80 };

export class FolderChanges {
  readonly #watcher: FSWatcher | null;
  readonly #ending: AbortSignal;
  #changed = false;
  #wake: (() => void) | null = null;

  /** @param ending ends all waiting */
  constructor(folder: string, ending: AbortSignal) {
    this.#ending = ending;
    this.#watcher = watcherOf(folder, () => {
      this.#changed = true;
      this.#wake?.();
    });
  }

  /** Until something has changed since the last call, or it is time to look. @returns whether all is ending */
  async next(): Promise<boolean> {
    if (!this.#changed) await this.#pause(lookMs[this.#watcher === null ? "unwatched" : "watched"], true);
    this.#changed = false;
    return this.#ending.aborted;
  }

  /** Lets pass what comes within this time. @returns whether all is ending */
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
    // A watch that breaks later leaves the looks now and then.
    return watch(folder, { persistent: false }, changed).on("error", () => {});
  } catch {
    return null;
  }
}
