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
  /** All of it, where a byte is a character; null: it is not so. */
  #ascii: string | null | undefined;

  /** @param cells start and length of each, as csv-rows.ts writes them; the block is read before they are written again */
  constructor(bytes: Buffer, cells: Uint32Array, rowCount: number, columnCount: number) {
    this.#bytes = bytes;
    this.#cells = cells;
    this.#rowCount = rowCount;
    this.#columnCount = columnCount;
  }

  /** @param count of the first rows */
  texts(column: number, count = this.#rowCount): string[] {
    return Array.from({ length: count }, (_, row) => this.#text(row, column));
  }

  /** @param rows this block's */
  piece(rows: TableRows, index: number): ColumnPiece {
    let columns: string[][] | null = null;
    const texts = (): string[][] => {
      if (columns === null) {
        columns = [];
        columns[index] = this.texts(index);
      }
      return columns;
    };
    const table = {
      ...rows,
      get columns() {
        return texts();
      },
    };
    return { table, index, numbers: null, cells: this.#column(index) };
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
    if (this.#ascii === undefined) this.#ascii = isAscii(this.#bytes) ? this.#bytes.toString("latin1") : null;
    return this.#ascii === null || length >= doubledQuotes
      ? cellText(this.#bytes, start, length)
      : this.#ascii.slice(start, start + length);
  }
}
