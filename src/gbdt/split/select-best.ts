/** The highest gain and all candidates that reach it: bit-equal gains tie. */
import { assert } from "../../base/assert.ts";

export interface Best {
  /** -Infinity if no candidate is allowed. */
  readonly gain: number;
  /** Ascending; every candidate whose gain is bit-equal to the maximum. Empty if none is allowed. */
  readonly indices: number[];
}

/** The highest of `gains` and all indices that reach it. */
export function selectBest(gains: ArrayLike<number>): Best {
  let gain = -Infinity;
  let indices: number[] = [];
  for (let i = 0; i < gains.length; i++) {
    assert(!Number.isNaN(gains[i]), "a gain is not a number");
    if (gains[i] > gain) [gain, indices] = [gains[i], [i]];
    else if (gains[i] === gain && gain !== -Infinity) indices.push(i);
  }
  return { gain, indices };
}
