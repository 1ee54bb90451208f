/** Membership as one bit per position, lowest bit first: the encoding of a split's outcome. */
import { TandemError } from "../base/error.ts";
import { rowLoops } from "../base/rows/row-loops.ts";

export function bitmapFrom(count: number, isSet: (position: number) => boolean): Uint8Array {
  const bitmap = new Uint8Array(Math.ceil(count / 8));
  for (let first = 0; first < count; first += 8) {
    const end = Math.min(8, count - first);
    let byte = 0;
    for (let bit = 0; bit < end; bit++) if (isSet(first + bit)) byte |= 1 << bit;
    bitmap[first >>> 3] = byte;
  }
  return bitmap;
}

/** Bitmap of the given rows; empty for null, which stands for all. */
export function rowBitmap(rows: Uint32Array | null, rowCount: number): Uint8Array {
  if (rows === null) return new Uint8Array(0);
  const isGiven = new Uint8Array(rowCount);
  for (const row of rows) isGiven[row] = 1;
  return bitmapFrom(rowCount, (row) => isGiven[row] === 1);
}

/** The bits of some positions of a bitmap, as a bitmap over these. */
export function pickedBits(ofAll: Uint8Array, positions: Uint32Array): Uint8Array {
  return rowLoops().picked(ofAll, positions);
}

/** Bitmap over `items` of `table[entries[item]]`. @param table 0 or 1 per entry */
export function lookedUpBits(table: Uint8Array, entries: Uint16Array, items: Uint32Array): Uint8Array {
  return rowLoops().lookedUp(table, entries, items);
}

export function isSet(bitmap: Uint8Array, position: number): boolean {
  return ((bitmap[position >>> 3] >>> (position & 7)) & 1) === 1;
}

/** One byte per bit, 0 or 1; also those after the last position. */
export function unpackedBits(bitmap: Uint8Array): Uint8Array {
  const bits = new Uint8Array(8 * bitmap.length);
  for (let byte = 0, at = 0; byte < bitmap.length; byte++, at += 8) {
    const all = bitmap[byte];
    for (let bit = 0; bit < 8; bit++) bits[at + bit] = (all >>> bit) & 1;
  }
  return bits;
}

export function countSet(bitmap: Uint8Array, count: number): number {
  return rowLoops().countSet(bitmap, count);
}

/**
 * Splits `items` into those whose bit is set and the others, both in their original order.
 * @throws TandemError PROTOCOL_STATE if the bitmap's length is not that of `items`
 */
export function partition(items: Uint32Array, bitmap: Uint8Array): { inside: Uint32Array; outside: Uint32Array } {
  checkBitmap(bitmap, items.length);
  return rowLoops().divided(items, bitmap);
}

export function checkBitmap(bitmap: Uint8Array, count: number): void {
  if (bitmap.length !== Math.ceil(count / 8)) {
    throw new TandemError(
      "PROTOCOL_STATE",
      `a membership bitmap has ${bitmap.length} bytes; ${Math.ceil(count / 8)} were expected`,
    );
  }
}
