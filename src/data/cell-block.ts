/** A piece of a table's text, and where its cells stand. Cells become strings only where they are needed as such. */
import { isAscii } from "node:buffer";
import type { CellColumn } from "../base/text/cell-column.ts";
import { cellText, doubledQuotes } from "./csv-rows.ts";
import type { ColumnPiece, TableRows } from "./table-sink.ts";

export class CellBlock {
  readonly #bytes: Buffer;
  readonly #cells: Uint32Array;
  readonly #rowCount: number;
  readonly #columnCount: number;
  /** Per column its texts, where they have been asked for. */
  readonly #columns: string[][];
  /** Where the first cell begins and the last one ends. */
  readonly #first: number;
  readonly #end: number;
  /** All cells and what is between them, where a byte is a character; null: it is not so. */
  #ascii: string | null | undefined;

  /**
   * @param cells start and length of each, as csv-rows.ts writes them; the block is read before they are written again
   */
  constructor(bytes: Buffer, cells: Uint32Array, rowCount: number, columnCount: number) {
    this.#bytes = bytes;
    this.#cells = cells;
    this.#rowCount = rowCount;
    this.#columnCount = columnCount;
    this.#columns = Array.from({ length: columnCount });
    const last = 2 * (rowCount * columnCount - 1);
    this.#first = cells[0];
    this.#end = cells[last] + (cells[last + 1] & ~doubledQuotes);
  }

  /** @param count of the first rows */
  texts(column: number, count = this.#rowCount): string[] {
    const texts: string[] = [];
    for (let row = 0; row < count; row++) texts.push(this.#text(row, column));
    return texts;
  }

  /** @param rows this block's */
  piece(rows: TableRows, index: number): ColumnPiece {
    const columns = (): readonly (readonly string[])[] => {
      this.#columns[index] ??= this.texts(index);
      return this.#columns;
    };
    const table = {
      ...rows,
      get columns() {
        return columns();
      },
    };
    const bytes = (): CellColumn => this.#column(index);
    return {
      table,
      index,
      numbers: null,
      get cells() {
        return bytes();
      },
    };
  }

  #column(index: number): CellColumn {
    return {
      bytes: this.#bytes,
      cells: this.#cells,
      shape: Uint32Array.of(this.#rowCount, this.#columnCount, index),
      text: (row) => this.#text(row, index),
    };
  }

  #text(row: number, column: number): string {
    const at = 2 * (row * this.#columnCount + column);
    const start = this.#cells[at];
    const length = this.#cells[at + 1];
    // Slices of one string are much cheaper than a decoder's call for each.
    if (this.#ascii === undefined) {
      const bytes = this.#bytes.subarray(this.#first, this.#end);
      this.#ascii = isAscii(bytes) ? bytes.toString("latin1") : null;
    }
    return this.#ascii === null || length >= doubledQuotes
      ? cellText(this.#bytes, start, length)
      : this.#ascii.slice(start - this.#first, start - this.#first + length);
  }
}
