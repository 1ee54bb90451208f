/** Labels or weights as they are read, in float64. */
import { TandemError } from "../base/error.ts";
import { GrowingNumbers } from "../base/growing-numbers.ts";
import type { ColumnPiece, ColumnSink, CsvTable } from "./table-sink.ts";

export class NumberSink implements ColumnSink {
  readonly #read: (table: CsvTable, index: number) => Float64Array;
  readonly #values = new GrowingNumbers(Float64Array);
  #trouble: TandemError | null = null;

  /** @param read converts a piece to numbers, or throws a TandemError that is reported at the end */
  constructor(read: (table: CsvTable, index: number) => Float64Array) {
    this.#read = read;
  }

  get sizeBytes(): number {
    return Float64Array.BYTES_PER_ELEMENT * this.#values.length;
  }

  take({ table, index }: ColumnPiece): void {
    if (this.#trouble !== null) return;
    try {
      this.#values.append(this.#read(table, index));
    } catch (error) {
      if (!(error instanceof TandemError)) throw error;
      this.#trouble = error;
    }
  }

  /** Once. @throws TandemError */
  finish(): Float64Array {
    if (this.#trouble !== null) throw this.#trouble;
    return this.#values.finish();
  }
}
