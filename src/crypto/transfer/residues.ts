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
  if (limbs === 2) return addPairs(target, source, sign, at, from, count);
  for (let first = 0; first < count; first += limbs) {
    let carry = 0;
    for (let limb = first; limb < first + limbs; limb++) {
      const sum = target[at + limb] + sign * source[from + limb] + carry;
      carry = sum < 0 ? -1 : sum >= 2 ** 32 ? 1 : 0;
      target[at + limb] = sum;
    }
  }
}

/** The same for two limbs, the usual number. A loop per sign, without other branches, is three times as fast. */
function addPairs(
  target: Uint32Array,
  source: Uint32Array,
  sign: 1 | -1,
  at: number,
  from: number,
  count: number,
): void {
  if (sign === 1) {
    for (let low = 0; low < count; low += 2) {
      const before = target[at + low];
      const sum = (before + source[from + low]) >>> 0;
      target[at + low] = sum;
      target[at + low + 1] = target[at + low + 1] + source[from + low + 1] + (sum < before ? 1 : 0);
    }
    return;
  }
  for (let low = 0; low < count; low += 2) {
    const before = target[at + low];
    const difference = (before - source[from + low]) >>> 0;
    target[at + low] = difference;
    target[at + low + 1] = target[at + low + 1] - source[from + low + 1] - (difference > before ? 1 : 0);
  }
}

export function negatives(source: Uint32Array, limbs: number): Uint32Array {
  const result = new Uint32Array(source.length);
  addResidues(result, source, limbs, -1);
  return result;
}
