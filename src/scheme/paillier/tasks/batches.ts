/** Divides vectors into tasks, and joins the results. */
import { TandemError } from "../../../base/error.ts";
import { integerBytes } from "../../../crypto/integers.ts";

/** Approximate bytes of one task or result: a message of an engine has at most a megabyte. */
const taskBytes = 512 << 10;

export interface Batch {
  readonly first: number;
  readonly end: number;
}

/** @param elementBytes of the task or of its result, whichever is larger */
export function taskBatches(count: number, elementBytes: number, countMax: number): Batch[] {
  const size = Math.max(1, Math.min(countMax, Math.floor(taskBytes / elementBytes)));
  return Array.from({ length: Math.ceil(count / size) }, (_, i) => ({
    first: i * size,
    end: Math.min(count, (i + 1) * size),
  }));
}

/** Whether one element fits into a message. */
export function fits(elementBytes: number): boolean {
  return elementBytes <= taskBytes;
}

/** @throws TandemError INTERNAL if the length of a worker's result does not match its task */
export function joinedBatches(
  batches: readonly Batch[],
  results: readonly Uint8Array[],
  elementBytes: number,
): Uint8Array {
  const joined = new Uint8Array((batches[batches.length - 1]?.end ?? 0) * elementBytes);
  for (const [i, { first, end }] of batches.entries()) {
    if (results[i].length !== (end - first) * elementBytes)
      throw new TandemError("INTERNAL", "the length of a worker's result does not match its task");
    joined.set(results[i], first * elementBytes);
  }
  return joined;
}

/**
 * Checks that all elements are below a bound, as results of a kernel in this process would be. The first byte almost
 * always decides.
 * @throws TandemError INTERNAL
 */
export function checkBelow(flat: Uint8Array, elementBytes: number, bound: bigint, what: string): void {
  const limit = integerBytes(bound, elementBytes);
  for (let at = 0; at < flat.length; at += elementBytes) {
    let i = elementBytes - 1;
    while (i >= 0 && flat[at + i] === limit[i]) i--;
    if (i < 0 || flat[at + i] > limit[i]) throw new TandemError("INTERNAL", `a worker's result is not a valid ${what}`);
  }
}

/** @throws TandemError INTERNAL */
export function checkNoZero(flat: Uint8Array, elementBytes: number, what: string): void {
  for (let at = 0; at < flat.length; at += elementBytes) {
    let i = 0;
    while (i < elementBytes && flat[at + i] === 0) i++;
    if (i === elementBytes) throw new TandemError("INTERNAL", `a worker's result is not a valid ${what}`);
  }
}
