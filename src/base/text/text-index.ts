/** A hash index of a packed list of texts: open addressing, four to eight bytes per text. */
import { assert } from "../assert.ts";
import { PackedTexts } from "./packed-texts.ts";

/** The maximum load factor. */
const fullness = 0.7;

export class TextIndex {
  readonly texts: PackedTexts;
  /** Index of a text plus one; 0 is free. */
  #slots: Uint32Array;

  /** @param texts all different */
  constructor(texts: PackedTexts = new PackedTexts()) {
    this.texts = texts;
    this.#slots = new Uint32Array(16);
    while (texts.length > fullness * this.#slots.length) this.#slots = new Uint32Array(2 * this.#slots.length);
    this.#place();
  }

  /** @returns the index of the text, and whether it was added */
  add(text: string): { readonly index: number; readonly isNew: boolean } {
    const slot = this.#slotOf(text);
    const known = this.#slots[slot];
    if (known !== 0) return { index: known - 1, isNew: false };
    const index = this.texts.add(text);
    this.#slots[slot] = index + 1;
    if (this.texts.length > fullness * this.#slots.length) {
      this.#slots = new Uint32Array(2 * this.#slots.length);
      this.#place();
    }
    return { index, isNew: true };
  }

  /** @returns -1 if the text is not in the list */
  indexOf(text: string): number {
    return this.#slots[this.#slotOf(text)] - 1;
  }

  /** The slot of a text, or the free slot for it. */
  #slotOf(text: string): number {
    const mask = this.#slots.length - 1;
    let slot = hashOf(text) & mask;
    while (this.#slots[slot] !== 0 && !this.texts.equals(this.#slots[slot] - 1, text)) slot = (slot + 1) & mask;
    return slot;
  }

  #place(): void {
    let index = 0;
    for (const text of this.texts) {
      const slot = this.#slotOf(text);
      assert(this.#slots[slot] === 0, "no two texts are the same");
      this.#slots[slot] = ++index;
    }
  }
}

/** A 32-bit hash of all characters. */
function hashOf(text: string): number {
  let hash = 0x811c_9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x0100_0193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2_ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
