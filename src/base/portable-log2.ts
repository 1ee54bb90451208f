/** Logarithms whose every bit is the same in all JavaScript engines: Math.log2 may differ in the last ones. */
import { assert } from "./assert.ts";

const fractionBits = 24;

/** log2 of a number of at least 1, rounded down to a multiple of 2^-24, of which squaring loses the last few bits. */
export function portableLog2(x: number): number {
  assert(x >= 1 && Number.isFinite(x), "the logarithm is of a number of at least 1");
  let whole = 0;
  let rest = x;
  for (; rest >= 2; rest /= 2) whole++;
  let fraction = 0;
  for (let bit = 1; bit <= fractionBits; bit++) {
    rest *= rest;
    if (rest < 2) continue;
    rest /= 2;
    fraction += 2 ** -bit;
  }
  return whole + fraction;
}
