/** How vectors are cut into tasks, and put together again. */
import { TandemError } from "../../../base/error.ts";
import { integerBytes } from "../../../crypto/integers.ts";

/** Bytes of one task or result, about: a message of an engine has at most a megabyte. */
const taskBytes = 512 << 10;

export interface Batch {
  readonly first: number;
  readonly end: number;
}

/** @param elementBytes of the task or of its result, whichever is larger */
export function batchesOf(count: number, elementBytes: number, countMax: number): Batch[] {
  const size = Math.max(1, Math.min(countMax, Math.floor(taskBytes / elementBytes)));
  return Array.from({ length: Math.ceil(count / size) }, (_, i) => ({
    first: i * size,
    end: Math.min(count, (i + 1) * size),
  }));
}

/** Whether one element fits into a message at all. */
export function fits(elementBytes: number): boolean {
  return elementBytes <= taskBytes;
}

/** @throws TandemError INTERNAL where a worker has done less than it was asked for, or more */
export function joinedBatches(
  batches: readonly Batch[],
  results: readonly Uint8Array[],
  elementBytes: number,
): Uint8Array {
  const joined = new Uint8Array((batches[batches.length - 1]?.end ?? 0) * elementBytes);
  for (const [i, { first, end }] of batches.entries()) {
    if (results[i].length !== (end - first) * elementBytes)
      throw new TandemError("INTERNAL", "a worker's result has another length than its task asks for");
    joined.set(results[i], first * elementBytes);
  }
  return joined;
}

/**
 * Whether all elements are below a bound, as what a kernel of this process makes would be; one byte decides nearly
 * always.
 * @throws TandemError INTERNAL
 */
export function checkBelow(flat: Uint8Array, elementBytes: number, bound: bigint, what: string): void {
  const limit = integerBytes(bound, elementBytes);
  for (let at = 0; at < flat.length; at += elementBytes) {
    let i = elementBytes - 1;
    while (i >= 0 && flat[at + i] === limit[i]) i--;
    if (i < 0 || flat[at + i] > limit[i]) throw new TandemError("INTERNAL", `a worker's result is no ${what}`);
  }
}

/** @throws TandemError INTERNAL */
export function checkNoZero(flat: Uint8Array, elementBytes: number, what: string): void {
  for (let at = 0; at < flat.length; at += elementBytes) {
    let i = 0;
    while (i < elementBytes && flat[at + i] === 0) i++;
    if (i === elementBytes) throw new TandemError("INTERNAL", `a worker's result is no ${what}`);
  }
}
