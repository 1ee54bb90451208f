/** What the bank's job has written down so far, read as it grows. */
import { closeSync, openSync, readSync } from "node:fs";

export class BankEvents {
  readonly #path: string;
  #offset = 0;
  #rest = "";
  /** Trees that were stored, those that had to be done again among them. */
  trees = 0;
  attempts = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** @returns whether a tree has come to an end since the last look */
  look(): boolean {
    const before = this.trees;
    const lines = (this.#rest + this.#news()).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line.startsWith('{"type":"tree"')) this.trees++;
      else if (line.startsWith('{"type":"joined"')) this.attempts++;
    }
    return this.trees > before;
  }

  #news(): string {
    let file: number;
    try {
      file = openSync(this.#path, "r");
    } catch {
      return ""; // not yet
    }
    try {
      const part = Buffer.alloc(1 << 20);
      const count = readSync(file, part, 0, part.length, this.#offset);
      this.#offset += count;
      return part.toString("utf8", 0, count);
    } finally {
      closeSync(file);
    }
  }
}
