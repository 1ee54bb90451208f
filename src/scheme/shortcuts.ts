/**
 * What makes the arithmetic of a scheme with sent members cheaper. None changes the model. Jobs have all of them;
 * experiments and tests switch them off one by one, as the paper's implementation has none.
 */
export interface Shortcuts {
  /** Several candidate sums come back in one ciphertext. */
  readonly packing: boolean;
  /** The larger sibling is derived from its parent. */
  readonly subtraction: boolean;
  /** Groups of features are summed in joint bins first. */
  readonly jointBins: boolean;
  /** The most frequent bin of each feature is left out of the sums. */
  readonly skipBin: boolean;
  /** The key owner encrypts modulo p^2 and q^2 with fixed-base tables; false: textbook r^n modulo n^2. */
  readonly ownerEncryption: boolean;
}

export const allShortcuts: Shortcuts = {
  packing: true,
  subtraction: true,
  jointBins: true,
  skipBin: true,
  ownerEncryption: true,
};
