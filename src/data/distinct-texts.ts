/** A column's cells as trimmed text, each different one once: labels, until it is seen what they are. */
import { GrowingNumbers } from "../base/growing-numbers.ts";
import { TextIndex } from "../base/text/text-index.ts";
import type { ColumnPiece, ColumnSink } from "./table-sink.ts";

export class DistinctTexts implements ColumnSink {
  readonly #index = new TextIndex();
  readonly #codes = new GrowingNumbers(Uint32Array);

  get sizeBytes(): number {
    return this.#index.texts.sizeBytes + Uint32Array.BYTES_PER_ELEMENT * this.#codes.length;
  }

  take({ table, index, cells }: ColumnPiece): void {
    const codes = new Uint32Array(table.rowCount);
    for (let row = 0; row < codes.length; row++) {
      if (cells !== undefined) row = this.#index.addCells(cells, row, 0, codes);
      if (row < codes.length) codes[row] = this.#index.add(table.columns[index][row].trim()).index;
    }
    this.#codes.append(codes);
  }

  /** Once. @returns the text of every row */
  finish(): string[] {
    const texts = [...this.#index.texts];
    return Array.from(this.#codes.finish(), (code) => texts[code]);
  }
}
