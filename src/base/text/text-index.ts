/** A hash index of a packed list of texts: open addressing, four to eight bytes per text. */
import { assert } from "../assert.ts";
import { plainAddon } from "../plain-addon.ts";
import type { CellColumn } from "./cell-column.ts";
import { PackedTexts } from "./packed-texts.ts";

/** A slot has the index of its text plus one, and above it bits of the hash: most other texts need not be compared. */
const indexBits = 27;
const indexMask = 2 ** indexBits - 1;
/** The maximum load factor. */
const fullness = 0.7;

export class TextIndex {
  readonly texts: PackedTexts;
  /** 0 is free. */
  #slots: Uint32Array;

  /** @param texts all different */
  constructor(texts: PackedTexts = new PackedTexts()) {
    this.texts = texts;
    this.#slots = new Uint32Array(16);
    this.#makeRoom(texts.length);
    this.#place();
  }

  /** @returns the index of the text, and whether it was added */
  add(text: string): { readonly index: number; readonly isNew: boolean } {
    const hash = hashOf(text);
    const slot = this.#slotOf(text, hash);
    const known = this.#slots[slot];
    if (known !== 0) return { index: indexIn(known), isNew: false };
    const index = this.texts.add(text);
    assert(index + 1 < indexMask, "there are fewer texts than 2^27");
    this.#slots[slot] = slotWith(index, hash);
    if (this.#makeRoom(this.texts.length)) this.#place();
    return { index, isNew: true };
  }

  /**
   * Adds cells natively, trimmed, from row `first` on.
   * @param rules bits of cellRules
   * @param found receives the index of each text: the number of texts before it, where it is new
   * @returns the row of the first cell that `add` must take, or the number of rows
   */
  addCells({ bytes, cells, shape }: CellColumn, first: number, rules: number, found: Uint32Array): number {
    const [rowCount] = shape;
    const addon = plainAddon();
    const room = addon === null ? null : this.texts.room(rowCount - first, bytes.length);
    if (addon === null || room === null) return first;
    if (this.#makeRoom(this.texts.length + rowCount - first)) this.#place();
    let { length } = this.texts;
    const { units, ends } = room;
    const end = addon.addCells(bytes, cells, shape, first, rules, units, ends, this.#slots, length, found);
    for (let row = first; row < end; row++) if (found[row] === length) length++;
    this.texts.added(length);
    return end;
  }

  /** @returns -1 if the text is not in the list */
  indexOf(text: string): number {
    return indexIn(this.#slots[this.#slotOf(text, hashOf(text))]);
  }

  /** The slot of a text, or the free slot for it. */
  #slotOf(text: string, hash: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    const isText = (slot: number): boolean =>
      (slot ^ hash) >>> indexBits === 0 && this.texts.equals(indexIn(slot), text);
    let at = hash & mask;
    while (slots[at] !== 0 && !isText(slots[at])) at = (at + 1) & mask;
    return at;
  }

  /** @returns whether there are new slots, which are free */
  #makeRoom(textCount: number): boolean {
    let count = this.#slots.length;
    while (textCount > fullness * count) count *= 2;
    if (count === this.#slots.length) return false;
    this.#slots = new Uint32Array(count);
    return true;
  }

  #place(): void {
    const addon = plainAddon();
    const room = addon === null ? null : this.texts.room(0, 0);
    if (addon !== null && room !== null) {
      const isPlaced = addon.placeTexts(room.units, room.ends, this.#slots, this.texts.length) === 1;
      return assert(isPlaced, "no two texts are the same");
    }
    let index = 0;
    for (const text of this.texts) {
      const hash = hashOf(text);
      const slot = this.#slotOf(text, hash);
      assert(this.#slots[slot] === 0, "no two texts are the same");
      this.#slots[slot] = slotWith(index++, hash);
    }
  }
}

/** -1 for a free slot. */
function indexIn(slot: number): number {
  return (slot & indexMask) - 1;
}

function slotWith(index: number, hash: number): number {
  return ((hash & ~indexMask) | (index + 1)) >>> 0;
}

/** A 32-bit hash of all characters. */
function hashOf(text: string): number {
  let hash = 0x811c_9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x0100_0193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2_ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
