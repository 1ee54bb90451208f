/**
 * The codes of categories, column by column: a category gets the next free number when it first occurs. Tables that
 * were read with one book can be concatenated; each column has a list of names for its codes. Codes never leave the
 * company.
 */
export class CategoryBook {
  readonly #columns = new Map<string, { readonly codes: Map<string, number>; readonly names: string[] }>();

  /** @returns the code of a category of a column, a new one if it has not occurred before */
  codeOf(column: string, category: string): number {
    const { codes, names } = this.#columnOf(column);
    const known = codes.get(category);
    if (known !== undefined) return known;
    const own = ownCopy(category);
    const code = names.push(own) - 1;
    codes.set(own, code);
    return code;
  }

  /** The categories of a column by their codes; the list grows with new categories. */
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

/** A copy: a cell is often a slice of a large string, which would stay in memory with it. */
function ownCopy(text: string): string {
  return Buffer.from(text, "utf16le").toString("utf16le");
}
