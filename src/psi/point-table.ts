/**
 * Points by value: open addressing over flat words, 32 bytes per point and 8 to 16 for its slot. Whole points are
 * compared, so that a match is never a coincidence of hashes. The slot hash has random coefficients, so that a peer
 * cannot choose points that collide.
 */
import { assert } from "../base/assert.ts";
import type { SecureRandom } from "../base/random.ts";
import { pointBytes } from "./curve25519.ts";

const wordsPerPoint = pointBytes / 4;

export class PointTable {
  readonly #points: Uint32Array;
  /** Index of a point plus one; 0 is free. */
  readonly #slots: Uint32Array;
  readonly #shift: number;
  readonly #coefficients: Uint32Array;
  readonly #probe = new Uint32Array(wordsPerPoint);
  readonly #probeBytes = new Uint8Array(this.#probe.buffer);
  #size = 0;

  constructor(capacity: number, random: SecureRandom) {
    const slotBits = Math.max(4, Math.ceil(Math.log2(capacity + 1)) + 1);
    this.#points = new Uint32Array(capacity * wordsPerPoint);
    this.#slots = new Uint32Array(2 ** slotBits);
    this.#shift = 32 - slotBits;
    this.#coefficients = new Uint32Array(wordsPerPoint);
    random.fill(new Uint8Array(this.#coefficients.buffer));
    for (let i = 0; i < wordsPerPoint; i++) this.#coefficients[i] |= 1;
  }

  get size(): number {
    return this.#size;
  }

  /** @returns false if the point is in the table already; otherwise it gets the next index: 0, 1, 2, ... */
  add(points: Uint8Array, offset: number): boolean {
    const slot = this.#slotOf(points, offset);
    if (this.#slots[slot] !== 0) return false;
    assert((this.#size + 1) * wordsPerPoint <= this.#points.length, "the table has room");
    this.#points.set(this.#probe, this.#size * wordsPerPoint);
    this.#slots[slot] = ++this.#size;
    return true;
  }

  /** @returns the index of the point, or -1 */
  indexOf(points: Uint8Array, offset: number): number {
    return this.#slots[this.#slotOf(points, offset)] - 1;
  }

  /** The slot that holds the point, or the free one where it belongs; the point's words are left in #probe. */
  #slotOf(points: Uint8Array, offset: number): number {
    for (let i = 0; i < pointBytes; i++) this.#probeBytes[i] = points[offset + i];
    let hash = 0;
    for (let i = 0; i < wordsPerPoint; i++) hash = (hash + Math.imul(this.#probe[i], this.#coefficients[i])) | 0;
    const last = this.#slots.length - 1;
    let slot = hash >>> this.#shift;
    while (this.#slots[slot] !== 0 && !this.#holdsProbe(this.#slots[slot] - 1)) slot = slot === last ? 0 : slot + 1;
    return slot;
  }

  #holdsProbe(index: number): boolean {
    const first = index * wordsPerPoint;
    for (let i = 0; i < wordsPerPoint; i++) if (this.#points[first + i] !== this.#probe[i]) return false;
    return true;
  }
}
