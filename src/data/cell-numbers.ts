/** A column's cells as float32 numbers, read natively. */
import { plainAddon } from "../base/plain-addon.ts";
import type { CellColumn } from "../base/text/cell-column.ts";

/** Trimmed cells that mean a missing value, as bytes. */
export class MissingTokens {
  readonly bytes: Uint8Array;
  readonly ends: Uint32Array;

  constructor(tokens: readonly string[]) {
    // UTF-8 has no lone surrogates: such a token is no cell.
    const texts = tokens.filter((token) => !/\p{Surrogate}/u.test(token)).map((token) => Buffer.from(token));
    this.bytes = Buffer.concat(texts);
    let end = 0;
    this.ends = Uint32Array.from(texts, ({ length }) => (end += length));
  }
}

/**
 * What numbersIn (columns.ts) makes of the same cells.
 * @returns null where that must read them: where one is text, or a number that float32 does not have
 */
export function cellNumbers({ bytes, cells, shape }: CellColumn, missing: MissingTokens): Float32Array | null {
  const addon = plainAddon();
  if (addon === null) return null;
  const values = new Float32Array(shape[0]);
  return addon.csvNumbers(bytes, cells, shape, missing.bytes, missing.ends, values) === 1 ? values : null;
}
