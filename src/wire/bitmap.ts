/** Membership as one bit per position, lowest bit first: how a split's outcome travels. */
import { TandemError } from "../base/error.ts";

export function bitmapFrom(count: number, isSet: (position: number) => boolean): Uint8Array {
  const bitmap = new Uint8Array(Math.ceil(count / 8));
  for (let i = 0; i < count; i++) if (isSet(i)) bitmap[i >>> 3] |= 1 << (i & 7);
  return bitmap;
}

export function isSet(bitmap: Uint8Array, position: number): boolean {
  return ((bitmap[position >>> 3] >>> (position & 7)) & 1) === 1;
}

export function countSet(bitmap: Uint8Array, count: number): number {
  let set = 0;
  for (let i = 0; i < count; i++) if (isSet(bitmap, i)) set++;
  return set;
}

/**
 * Splits `items` into those whose bit is set and the rest, both in their old order.
 * @throws TandemError PROTOCOL_STATE if the bitmap's length is not that of `items`
 */
export function partition(items: Uint32Array, bitmap: Uint8Array): { inside: Uint32Array; outside: Uint32Array } {
  checkBitmap(bitmap, items.length);
  const inside = new Uint32Array(items.length);
  const outside = new Uint32Array(items.length);
  let insideCount = 0;
  let outsideCount = 0;
  for (let i = 0; i < items.length; i++) {
    if (isSet(bitmap, i)) inside[insideCount++] = items[i];
    else outside[outsideCount++] = items[i];
  }
  return { inside: inside.slice(0, insideCount), outside: outside.slice(0, outsideCount) };
}

export function checkBitmap(bitmap: Uint8Array, count: number): void {
  if (bitmap.length !== Math.ceil(count / 8)) {
    throw new TandemError(
      "PROTOCOL_STATE",
      `a membership bitmap has ${bitmap.length} bytes; ${Math.ceil(count / 8)} were expected`,
    );
  }
}
