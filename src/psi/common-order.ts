/**
 * The order in which all parties list the common instances: ascending ids (after normalisation), by UTF-16 code units.
 * It depends on the common set alone, which every party knows in the end. So it reveals nothing about any party's file,
 * and intersecting the same files again gives the same order.
 */
import type { PackedTexts } from "../base/text/packed-texts.ts";
import { isSliceOver, nextSlice } from "../base/scheduling/event-loop-slice.ts";

const runLength = 1024;
const stepsPerLook = 1024;

/** @returns the indices of `which`, by ascending id; merge sort, in slices of the event loop */
export async function byAscendingId(ids: PackedTexts, which: Uint32Array): Promise<Uint32Array> {
  const compare = (a: number, b: number): number => ids.compare(a, b);
  let from = Uint32Array.from(which);
  for (let first = 0; first < from.length; first += runLength) {
    from.subarray(first, first + runLength).sort(compare);
    if (isSliceOver()) await nextSlice();
  }
  let to = new Uint32Array(from.length);
  for (let length = runLength; length < from.length; length *= 2) {
    for (let first = 0; first < from.length; first += 2 * length) {
      const middle = Math.min(first + length, from.length);
      const end = Math.min(middle + length, from.length);
      let left = first;
      let right = middle;
      for (let i = first; i < end; i++) {
        if (i % stepsPerLook === 0 && isSliceOver()) await nextSlice();
        const takeLeft = right === end || (left < middle && compare(from[left], from[right]) <= 0);
        to[i] = takeLeft ? from[left++] : from[right++];
      }
    }
    [from, to] = [to, from];
  }
  return from;
}
