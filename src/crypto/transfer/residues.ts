/**
 * Integers modulo 2^(32 limbs) side by side, each as `limbs` words, the lowest first: the shares of masked scoring.
 */

/**
 * target += sign * source, integer by integer.
 * @param at where in the target, in words; `from` where in the source; `count` how many words
 */
export function addResidues(
  target: Uint32Array,
  source: Uint32Array,
  limbs: number,
  sign: 1 | -1 = 1,
  at = 0,
  from = 0,
  count = source.length,
): void {
  for (let first = 0; first < count; first += limbs) {
    let carry = 0;
    for (let limb = first; limb < first + limbs; limb++) {
      const sum = target[at + limb] + sign * source[from + limb] + carry;
      carry = sum < 0 ? -1 : sum >= 2 ** 32 ? 1 : 0;
      target[at + limb] = sum;
    }
  }
}

export function negatives(source: Uint32Array, limbs: number): Uint32Array {
  const result = new Uint32Array(source.length);
  addResidues(result, source, limbs, -1);
  return result;
}
