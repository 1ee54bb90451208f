/**
 * Texts in one buffer: a byte per character while all of them are Latin-1, two afterwards, and four for the end of
 * each. Lossless: texts are returned code unit by code unit.
 */
import { assert } from "../assert.ts";
import type { TextList } from "./text-list.ts";

type Units = Uint8Array | Uint16Array;

const unitsMax = 2 ** 32 - 1;
/** Texts up to this length are built in JavaScript, which is faster than a decoder. */
const shortLength = 24;

export class PackedTexts implements TextList {
  #units: Units = new Uint8Array(1024);
  #ends = new Uint32Array(64);
  #length = 0;
  #unitCount = 0;

  get length(): number {
    return this.#length;
  }

  /** A lower bound of its memory. */
  get sizeBytes(): number {
    return this.#unitCount * this.#units.BYTES_PER_ELEMENT + 4 * this.#length;
  }

  static from(texts: Iterable<string>): PackedTexts {
    const packed = new PackedTexts();
    for (const text of texts) packed.add(text);
    return packed;
  }

  /** @returns its index */
  add(text: string): number {
    this.#makeRoom(text.length, 1);
    let at = this.#unitCount;
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      if (unit > 255 && this.#units.BYTES_PER_ELEMENT === 1) this.#units = Uint16Array.from(this.#units);
      this.#units[at++] = unit;
    }
    this.#unitCount = at;
    this.#ends[this.#length] = at;
    return this.#length++;
  }

  /**
   * Room for further texts, which a native function writes: it is called with the arrays, and `added` afterwards.
   * @returns null where characters have two bytes
   */
  room(textCount: number, unitCount: number): { readonly units: Uint8Array; readonly ends: Uint32Array } | null {
    this.#makeRoom(unitCount, textCount);
    return this.#units instanceof Uint8Array ? { units: this.#units, ends: this.#ends } : null;
  }

  /** @param length how many texts there are now */
  added(length: number): void {
    this.#length = length;
    this.#unitCount = length === 0 ? 0 : this.#ends[length - 1];
  }

  /** UTF-8 of some texts, each after its length in bytes and a colon; null where characters have two bytes. */
  lengthPrefixed(first: number, end: number): Uint8Array | null {
    const units = this.#units;
    if (units instanceof Uint16Array) return null;
    const starts = this.#startOf(first);
    const lengthCharsMax = String(unitsMax).length + 1;
    const bytes = new Uint8Array(2 * (this.#startOf(end) - starts) + lengthCharsMax * (end - first));
    let at = 0;
    for (let index = first, start = starts; index < end; index++) {
      const stop = this.#ends[index];
      let byteCount = stop - start;
      for (let i = start; i < stop; i++) if (units[i] > 0x7f) byteCount++;
      at = writeDecimal(bytes, at, byteCount);
      bytes[at++] = colon;
      for (; start < stop; start++) {
        const unit = units[start];
        if (unit <= 0x7f) bytes[at++] = unit;
        else {
          bytes[at++] = 0xc0 | (unit >> 6);
          bytes[at++] = 0x80 | (unit & 0x3f);
        }
      }
    }
    return bytes.subarray(0, at);
  }

  /** Releases spare capacity. */
  trim(): void {
    this.#units = this.#units.slice(0, this.#unitCount);
    this.#ends = this.#ends.slice(0, this.#length);
  }

  at(index: number): string | undefined {
    if (index < 0) return this.at(this.#length + index);
    if (index >= this.#length) return undefined;
    const units = this.#units;
    const start = this.#startOf(index);
    const end = this.#ends[index];
    if (end - start > shortLength) return decoded(units.subarray(start, end));
    let text = "";
    for (let i = start; i < end; i++) text += String.fromCharCode(units[i]);
    return text;
  }

  *[Symbol.iterator](): Generator<string> {
    for (let i = 0; i < this.#length; i++) yield this.at(i) as string;
  }

  /** By UTF-16 code units, as strings compare. @returns below 0, 0 or above 0 */
  compare(a: number, b: number): number {
    const units = this.#units;
    const firstA = this.#startOf(a);
    const firstB = this.#startOf(b);
    const lengthA = this.#ends[a] - firstA;
    const lengthB = this.#ends[b] - firstB;
    const length = Math.min(lengthA, lengthB);
    for (let i = 0; i < length; i++) {
      const difference = units[firstA + i] - units[firstB + i];
      if (difference !== 0) return difference;
    }
    return lengthA - lengthB;
  }

  equals(index: number, text: string): boolean {
    const units = this.#units;
    const start = this.#startOf(index);
    if (this.#ends[index] - start !== text.length) return false;
    for (let i = 0; i < text.length; i++) if (units[start + i] !== text.charCodeAt(i)) return false;
    return true;
  }

  #startOf(index: number): number {
    return index === 0 ? 0 : this.#ends[index - 1];
  }

  #makeRoom(unitCount: number, textCount: number): void {
    const needed = this.#unitCount + unitCount;
    assert(needed <= unitsMax, "the texts fit into four gigabytes");
    if (needed > this.#units.length) {
      const grown = Math.min(unitsMax, Math.max(needed, Math.ceil(1.5 * this.#units.length)));
      const units = this.#units.BYTES_PER_ELEMENT === 1 ? new Uint8Array(grown) : new Uint16Array(grown);
      units.set(this.#units);
      this.#units = units;
    }
    if (this.#length + textCount > this.#ends.length) {
      const ends = new Uint32Array(Math.max(this.#length + textCount, Math.ceil(1.5 * this.#ends.length)));
      ends.set(this.#ends);
      this.#ends = ends;
    }
  }
}

/** A selection of the texts; the buffer is shared. */
export class TextSelection implements TextList {
  readonly #texts: PackedTexts;
  readonly #which: Uint32Array;

  constructor(texts: PackedTexts, which: Uint32Array) {
    this.#texts = texts;
    this.#which = which;
  }

  get length(): number {
    return this.#which.length;
  }

  at(index: number): string | undefined {
    const at = index < 0 ? this.#which.length + index : index;
    return at >= 0 && at < this.#which.length ? this.#texts.at(this.#which[at]) : undefined;
  }

  *[Symbol.iterator](): Generator<string> {
    for (const index of this.#which) yield this.#texts.at(index) as string;
  }

  select(rows: Uint32Array): TextSelection {
    const which = new Uint32Array(rows.length);
    for (let i = 0; i < rows.length; i++) which[i] = this.#which[rows[i]];
    return new TextSelection(this.#texts, which);
  }
}

/** @returns the texts of the given rows; the buffer of packed ones is shared */
export function selectTexts(texts: TextList, rows: Uint32Array): TextList {
  if (texts instanceof PackedTexts) return new TextSelection(texts, rows);
  if (texts instanceof TextSelection) return texts.select(rows);
  return Array.from(rows, (row) => texts.at(row) as string);
}

const zero = 0x30;
const colon = 0x3a;

/** @returns where the number ends */
function writeDecimal(bytes: Uint8Array, at: number, value: number): number {
  let unit = 1;
  while (10 * unit <= value) unit *= 10;
  for (; unit >= 1; unit = Math.floor(unit / 10)) bytes[at++] = zero + (Math.floor(value / unit) % 10);
  return at;
}

const pieceLength = 8192;

function decoded(units: Units): string {
  let text = "";
  for (let first = 0; first < units.length; first += pieceLength)
    text += String.fromCharCode(...units.subarray(first, first + pieceLength));
  return text;
}
