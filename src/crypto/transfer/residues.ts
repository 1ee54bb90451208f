/** Integers modulo 2^(32 limbs) side by side, each as `limbs` words, the lowest first: what is shared and multiplied. */

/** target += sign * source, integer by integer, from a place on. */
export function addResidues(
  target: Uint32Array,
  source: Uint32Array,
  limbs: number,
  { sign = 1, at = 0, from = 0, count = source.length }: AddOptions = {},
): void {
  for (let first = 0; first < count; first += limbs) {
    let carry = 0;
    for (let limb = first; limb < first + limbs; limb++) {
      const sum = target[at + limb] + sign * source[from + limb] + carry;
      carry = Math.floor(sum / 2 ** 32);
      target[at + limb] = sum;
    }
  }
}

export interface AddOptions {
  readonly sign?: 1 | -1;
  /** Where in the target, and from where in the source, in words. */
  readonly at?: number;
  readonly from?: number;
  readonly count?: number;
}

export function negatives(source: Uint32Array, limbs: number): Uint32Array {
  const result = new Uint32Array(source.length);
  addResidues(result, source, limbs, { sign: -1 });
  return result;
}
