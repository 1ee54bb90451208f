/**
 * Divides long computations in JavaScript into slices, to keep connections alive. All computations of the process get
 * one slice each, one after the other, so that the delay does not grow with their number.
 *
 *   if (isSliceOver()) await nextSlice();    once per millisecond of work or so
 */
const sliceMs = 5;

let sliceEnd = 0;
const waiting: (() => void)[] = [];

export function isSliceOver(): boolean {
  return performance.now() >= sliceEnd;
}

export function nextSlice(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(giveSlice);
  });
}

/** Runs work in steps, and yields to the event loop in between. @returns its result */
export async function inTurns<T>(work: Generator<void, T>): Promise<T> {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
    if (isSliceOver()) await nextSlice();
  }
}

/** The same without yielding. */
export function atOnce<T>(work: Generator<void, T>): T {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

function giveSlice(): void {
  sliceEnd = performance.now() + sliceMs;
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(giveSlice);
}
