/** Line ending and separator of CSV text, from its first line that is not blank. */

export interface Dialect {
  readonly newline: "\n" | "\r\n" | "\r";
  readonly delimiter: string;
}

/** Processes the text piece by piece, each character once. */
export class DialectFinder {
  readonly #counts = new Map([
    [",", 0],
    [";", 0],
    ["\t", 0],
  ]);
  /** A quote is special only at the start of a cell. */
  #isFieldQuoted = false;
  #isQuoted = false;
  #isFieldStart = true;
  #isBlank = true;
  /** The line's last character, if the next one distinguishes \r from \r\n. */
  #isAfterReturn = false;

  /** @returns undefined while the first line that is not blank has not ended */
  add(text: string): Dialect | undefined {
    for (const char of text) {
      if (this.#isAfterReturn) return this.#dialect(char === "\n" ? "\r\n" : "\r");
      if (this.#isFieldStart) this.#isFieldQuoted = char === '"';
      if (this.#isFieldQuoted && char === '"') this.#isQuoted = !this.#isQuoted;
      const isEnd = char === "\n" || char === "\r";
      const count = this.#counts.get(char);
      this.#isFieldStart = !this.#isQuoted && (count !== undefined || isEnd);
      if (this.#isQuoted) continue;
      if (isEnd && !this.#isBlank) {
        if (char === "\n") return this.#dialect("\n");
        this.#isAfterReturn = true;
        continue;
      }
      if (this.#isBlank && char.trim() !== "") this.#isBlank = false;
      if (count !== undefined) this.#counts.set(char, count + 1);
    }
    return undefined;
  }

  #dialect(newline: Dialect["newline"]): Dialect {
    const [delimiter] = [...this.#counts].reduce((best, entry) => (entry[1] > best[1] ? entry : best));
    return { newline, delimiter };
  }
}
