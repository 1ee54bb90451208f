/** The cells of one column as UTF-8, in one buffer: a wide table as strings would take ten times its file. */
import type { CellColumn } from "../base/text/cell-column.ts";
import { computedTexts, type TextList } from "../base/text/text-list.ts";
import { assert } from "../base/assert.ts";
import { doubledQuotes } from "./csv-rows.ts";

const endBytes = Uint32Array.BYTES_PER_ELEMENT;
const bytesMax = 2 ** 31;
/** Cells up to this length are copied, and decoded, byte by byte: a call would take longer. */
const shortLength = 24;

/** Bytes of cells that need no quotes, wherever they stand in one (write-csv.ts): letters, digits, signs of numbers. */
const isPlain = Uint8Array.from({ length: 256 }, (_, byte) => Number(/[\w.+-]/.test(String.fromCharCode(byte))));

/** Cells of some rows. */
export interface CellSelection extends TextList {
  /**
   * Copies a cell that needs no quotes in CSV.
   * @returns where it ends; undefined: it may need some, or there is no room for it and one more byte
   */
  copyPlain(index: number, target: Uint8Array, at: number): number | undefined;
}

export function isSelection(texts: TextList): texts is CellSelection {
  return "copyPlain" in texts;
}

export class KeptCells {
  #bytes = Buffer.alloc(256);
  #ends = new Uint32Array(32);
  #length = 0;
  #byteCount = 0;

  get length(): number {
    return this.#length;
  }

  get sizeBytes(): number {
    return this.#byteCount + endBytes * this.#length;
  }

  addTexts(texts: Iterable<string>): void {
    for (const text of texts) this.#addText(text);
  }

  addCells(added: CellColumn): void {
    const { bytes, cells } = added;
    const [rowCount, columnCount, column] = added.shape;
    for (let row = 0; row < rowCount; row++) {
      const place = 2 * (row * columnCount + column);
      const length = cells[place + 1];
      if (length >= doubledQuotes) {
        this.#addText(added.text(row));
        continue;
      }
      const start = cells[place];
      const at = this.#makeRoom(length);
      if (length > shortLength) this.#bytes.set(bytes.subarray(start, start + length), at);
      else for (let i = 0; i < length; i++) this.#bytes[at + i] = bytes[start + i];
      this.#end(at + length);
    }
  }

  /** Releases spare memory. */
  trim(): void {
    this.#bytes = Buffer.from(this.#bytes.subarray(0, this.#byteCount));
    this.#ends = this.#ends.slice(0, this.#length);
  }

  /** All of them as one column. */
  get column(): CellColumn {
    const cells = new Uint32Array(2 * this.#length);
    for (let row = 0, start = 0; row < this.#length; row++) {
      cells[2 * row] = start;
      cells[2 * row + 1] = this.#ends[row] - start;
      start = this.#ends[row];
    }
    const shape = Uint32Array.of(this.#length, 1, 0);
    return { bytes: this.#bytes, cells, shape, text: (row) => this.text(row) };
  }

  text(row: number): string {
    const start = row === 0 ? 0 : this.#ends[row - 1];
    const end = this.#ends[row];
    if (end - start > shortLength) return this.#bytes.toString("utf8", start, end);
    let text = "";
    for (let at = start; at < end; at++) {
      const byte = this.#bytes[at];
      if (byte >= 0x80) return this.#bytes.toString("utf8", start, end);
      text += String.fromCharCode(byte);
    }
    return text;
  }

  get texts(): string[] {
    return Array.from({ length: this.#length }, (_, row) => this.text(row));
  }

  select(rows: Uint32Array): CellSelection {
    return {
      ...computedTexts(rows.length, (i) => this.text(rows[i])),
      copyPlain: (i, target, at) => this.#copyPlain(rows[i], target, at),
    };
  }

  #copyPlain(row: number, target: Uint8Array, at: number): number | undefined {
    const bytes = this.#bytes;
    const end = this.#ends[row];
    const start = row === 0 ? 0 : this.#ends[row - 1];
    if (end - start >= target.length - at) return undefined;
    for (let from = start; from < end; from++) {
      const byte = bytes[from];
      if (isPlain[byte] === 0) return undefined;
      target[at++] = byte;
    }
    return at;
  }

  #addText(text: string): void {
    const length = Buffer.byteLength(text);
    const at = this.#makeRoom(length);
    this.#bytes.write(text, at);
    this.#end(at + length);
  }

  /** @returns where the next cell begins */
  #makeRoom(byteCount: number): number {
    const needed = this.#byteCount + byteCount;
    assert(needed < bytesMax, "the cells of a column fit into two gigabytes");
    if (needed > this.#bytes.length) {
      const grown = Buffer.alloc(Math.max(needed, Math.ceil(1.5 * this.#bytes.length)));
      this.#bytes.copy(grown, 0, 0, this.#byteCount);
      this.#bytes = grown;
    }
    return this.#byteCount;
  }

  #end(at: number): void {
    if (this.#length === this.#ends.length) {
      const grown = new Uint32Array(2 * this.#length);
      grown.set(this.#ends);
      this.#ends = grown;
    }
    this.#ends[this.#length++] = at;
    this.#byteCount = at;
  }
}
