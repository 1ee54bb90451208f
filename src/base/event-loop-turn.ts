/**
 * Long work in JavaScript, in slices: connections must stay alive meanwhile. All pieces of work in the process share
 * one slice per turn of the event loop and take turns, so that the delay does not grow with their number.
 *
 *   if (isTurnOver()) await nextTurn();      once per millisecond of work or so
 */
const sliceMs = 5;

let sliceEnd = 0;
const waiting: (() => void)[] = [];

export function isTurnOver(): boolean {
  return performance.now() >= sliceEnd;
}

export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(giveTurn);
  });
}

function giveTurn(): void {
  sliceEnd = performance.now() + sliceMs;
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(giveTurn);
}
