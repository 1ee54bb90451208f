/** Transposes a bit matrix: 128 columns, a stream each, become rows of 128 bits, one per transfer. */

/**
 * @param columns 128 columns of `words` words each; bit i of a column, lowest first, belongs to row i
 * @param from the first word to transpose, `to` the one after the last
 * @returns 32 rows of four words for each word; bit j of a row, lowest first, is from column j
 */
export function transposed(columns: Uint32Array, words: number, from = 0, to = words): Uint32Array {
  const rows = new Uint32Array(128 * (to - from));
  const square = new Uint32Array(32);
  for (let w = from; w < to; w++) {
    for (let quarter = 0; quarter < 4; quarter++) {
      for (let k = 0; k < 32; k++) square[k] = columns[(32 * quarter + k) * words + w];
      transpose(square);
      for (let k = 0; k < 32; k++) rows[(32 * (w - from) + k) * 4 + quarter] = square[k];
    }
  }
  return rows;
}

/** 32 words of 32 bits, in place: bit c of word r changes places with bit r of word c (Hacker's Delight, 7-3). */
function transpose(square: Uint32Array): void {
  for (let step = 16, mask = 0xffff; step > 0; step >>>= 1, mask ^= mask << step) {
    for (let k = 0; k < 32; k = (k + step + 1) & ~step) {
      const swap = ((square[k] >>> step) ^ square[k + step]) & mask;
      square[k + step] ^= swap;
      square[k] ^= swap << step;
    }
  }
}
