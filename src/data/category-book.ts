/**
 * The codes of categories, column by column: a category gets the next free number when it is first met, and keeps it.
 * Tables that were read with one book can be put together; what a code stands for is in the list of names beside its
 * column. Codes leave their process in nothing but that company.
 */
export class CategoryBook {
  readonly #columns = new Map<string, { readonly codes: Map<string, number>; readonly names: string[] }>();

  /** @returns the code of a category of a column, a new one if it was never met */
  codeOf(column: string, category: string): number {
    const { codes, names } = this.#columnOf(column);
    const known = codes.get(category);
    if (known !== undefined) return known;
    const own = ownCopy(category);
    const code = names.push(own) - 1;
    codes.set(own, code);
    return code;
  }

  /** The categories of a column by their codes; the list grows when others are met. */
  namesOf(column: string): readonly string[] {
    return this.#columnOf(column).names;
  }

  #columnOf(column: string): { readonly codes: Map<string, number>; readonly names: string[] } {
    let found = this.#columns.get(column);
    if (found === undefined) {
      found = { codes: new Map(), names: [] };
      this.#columns.set(column, found);
    }
    return found;
  }
}

/** A cell is often a window into a large piece of a file, which would stay in memory with it. */
function ownCopy(text: string): string {
  return Buffer.from(text, "utf16le").toString("utf16le");
}
