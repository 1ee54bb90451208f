/**
 * The queue of a passive party as a small file in its output directory, for the page: which jobs run and which wait. It
 * is rewritten at every change, and says nothing once the party's process is gone.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod/mini";
import { writeFileAtomically } from "../base/files/atomic-file.ts";
import { isLocked } from "../base/files/process-lock.ts";
import { count, instant, text } from "./fields.ts";

const queuedLine = z.object({
  job: text,
  /** Its active party. */
  peer: text,
  /** 0: it runs. */
  place: count,
  since: instant,
});
const queueFile = z.array(queuedLine);

export type QueuedLine = z.infer<typeof queuedLine>;

const fileName = ".queue.json";

/** Writes one state after the other; states in between may be left out. */
export class QueueFile {
  readonly #directory: string;
  #next: readonly QueuedLine[] | null = null;
  #writing: Promise<void> | null = null;

  constructor(directory: string) {
    this.#directory = directory;
  }

  write(lines: readonly QueuedLine[]): void {
    this.#next = lines;
    this.#writing ??= this.#writeAll();
  }

  /** All is written. */
  async close(): Promise<void> {
    await this.#writing;
  }

  async #writeAll(): Promise<void> {
    for (let lines = this.#next; lines !== null; lines = this.#next) {
      this.#next = null;
      // Only the page misses it.
      await writeFileAtomically(join(this.#directory, fileName), JSON.stringify(lines), 0o600).catch(() => {});
    }
    this.#writing = null;
  }
}

/** Empty while no process serves jobs. */
export async function readQueue(directory: string): Promise<readonly QueuedLine[]> {
  if (!(await isLocked(directory))) return [];
  try {
    return queueFile.parse(JSON.parse(await readFile(join(directory, fileName), "utf8")));
  } catch {
    return [];
  }
}
