/**
 * Reads a feature's values piece by piece, with the same results and errors as feature-columns.ts has for a whole
 * table. A column with numbers and text is categorical, but the text of its first numbers is gone when this is
 * detected: then `isMixed` is set, and the table is read again with this knowledge.
 */
import { TandemError } from "../base/error.ts";
import { GrowingNumbers } from "../base/growing-numbers.ts";
import { categoryColumn, firstCell, firstText, hasNumber, numbersIn, textError } from "./columns.ts";
import { cellNumbers, MissingTokens } from "./cell-numbers.ts";
import type { Categories } from "./dataset.ts";
import { categoryNotice, type FeatureReading, mixedNotice, said, textAdvice } from "./feature-columns.ts";
import type { ColumnPiece, ColumnSink } from "./table-sink.ts";

export type FeatureOptions = Pick<FeatureReading, "missing" | "text" | "book" | "saidIn" | "notice"> & {
  readonly name: string;
  /** Categories because it is named so, or because it is known to have text and numbers; null: that is to be seen. */
  readonly kind: "named" | "mixed" | null;
};

export class FeatureSink implements ColumnSink {
  readonly #options: FeatureOptions;
  readonly #tokens: ReadonlySet<string>;
  readonly #tokenBytes: MissingTokens;
  /** The missing tokens that are numbers. */
  readonly #missingNumbers: ReadonlySet<number>;
  readonly #values = new GrowingNumbers(Float32Array);
  /** Categories that were known before. */
  readonly #before: number;
  #hasNumber = false;
  #isMixed = false;
  #trouble: TandemError | null = null;
  /** A number that float32 does not have: among text it may be a code. */
  #beyond: TandemError | null = null;
  /** Of the first cell that counts for messages; and of the first row, where there is no such cell. */
  #where: string | null = null;
  #firstRow: string | null = null;

  constructor(options: FeatureOptions) {
    this.#options = options;
    this.#tokens = new Set(options.missing);
    this.#tokenBytes = new MissingTokens(options.missing);
    this.#before = options.book.namesOf(options.name).length;
    const numbers = options.missing.map((token) => [token, Number(token)] as const);
    this.#missingNumbers = new Set(
      numbers.filter(([token, value]) => String(value) === token).map(([, value]) => value),
    );
  }

  get name(): string {
    return this.#options.name;
  }

  get isMixed(): boolean {
    return this.#isMixed;
  }

  get sizeBytes(): number {
    return Float32Array.BYTES_PER_ELEMENT * this.#values.length;
  }

  take(piece: ColumnPiece): void {
    if (this.#trouble !== null || this.#isMixed) return;
    const values = this.#valuesOf(piece);
    if (values !== null) this.#values.append(values);
  }

  /** Once. @throws TandemError CELL_UNPARSABLE naming file, line and column */
  finish(): { readonly values: Float32Array; readonly categories: Categories | null } {
    const trouble = this.#trouble ?? this.#beyond;
    if (trouble !== null) throw trouble;
    const { book, name, kind, text, notice, saidIn = "options" } = this.#options;
    const values = this.#values.finish();
    const where = this.#where ?? (kind === "named" ? this.#firstRow : null);
    if (where === null) return { values, categories: null };
    if (kind === "mixed") notice?.(mixedNotice(where, said[saidIn]));
    const count = book.namesOf(name).length;
    const words = categoryNotice(where, { text, isNamed: kind === "named", before: this.#before, count });
    if (words !== null) notice?.(words);
    return { values, categories: { names: book.namesOf(name), where } };
  }

  /** @returns null where there is trouble, or the table must be read again */
  #valuesOf(piece: ColumnPiece): Float32Array | null {
    const { table, index } = piece;
    const { kind, text, name, saidIn = "options" } = this.#options;
    if (kind !== null) return this.#codesOf(piece);
    const numbers = this.#numbersOf(piece);
    if (numbers === null && text !== "categories") {
      this.#trouble = textError(table, index, this.#tokens, textAdvice(text, said[saidIn], name));
      return null;
    }
    const isText = this.#where !== null;
    if (numbers !== null) {
      const isMissing = numbers.every(Number.isNaN);
      if (isText && !isMissing) this.#isMixed = true;
      if (!isMissing) this.#hasNumber = true;
      return this.#isMixed ? null : numbers;
    }
    if (this.#hasNumber || hasNumber(table, index, this.#tokens)) {
      this.#isMixed = true;
      return null;
    }
    return this.#codesOf(piece);
  }

  #codesOf({ table, index }: ColumnPiece): Float32Array {
    const { book, name, kind } = this.#options;
    const values = categoryColumn(table, index, this.#tokens, book, name);
    if (this.#where === null) this.#where = this.#placeIn(table, index, kind === "named", values);
    return values;
  }

  #placeIn(table: ColumnPiece["table"], index: number, isNamed: boolean, values: Float32Array): string | null {
    const first = firstCell(table, index, this.#tokens);
    this.#firstRow ??= first;
    if (values.every(Number.isNaN)) return null;
    if (isNamed) return first;
    return numbersOrText(() => numbersIn(table, index, this.#tokens)) === null
      ? firstText(table, index, this.#tokens)
      : null;
  }

  /** @returns null if there is text */
  #numbersOf({ table, index, numbers, cells }: ColumnPiece): Float32Array | null {
    const plain =
      numbers !== null ? this.#float32(numbers) : cells === undefined ? null : cellNumbers(cells, this.#tokenBytes);
    if (plain !== null) return plain;
    try {
      return numbersIn(table, index, this.#tokens);
    } catch (error) {
      if (!(error instanceof TandemError)) throw error;
      this.#beyond ??= error;
      this.#hasNumber = true;
      return new Float32Array(table.rowCount);
    }
  }

  /** @returns null if a number is too large for float32: only its text says where it stands */
  #float32(numbers: Float64Array): Float32Array | null {
    const values = Float32Array.from(numbers);
    const missing = this.#missingNumbers;
    for (let i = 0; i < values.length; i++) {
      if (Math.abs(values[i]) === Infinity) return null;
      if (missing.size > 0 && missing.has(numbers[i])) values[i] = NaN;
    }
    return values;
  }
}

/** A number beyond float32 is not text. */
function numbersOrText(read: () => Float32Array | null): Float32Array | null {
  try {
    return read();
  } catch {
    return new Float32Array(0);
  }
}
