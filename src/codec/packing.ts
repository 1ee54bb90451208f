/**
 * Packing of sums: several aggregated plaintexts in one ciphertext. The passive party shifts them there under
 * encryption (Horner), and the active party decrypts one ciphertext instead of many.
 *
 *   packed = sum_0 + sum_1 2^stride + sum_2 2^(2 stride) + ...        stride = the layout's plaintextBits
 */
export interface SumPacking {
  readonly strideBits: number;
  readonly perCiphertext: number;
}

/** A key of exactly b bits has n >= 2^(b-1): every number of b-1 bits is below n. */
export function plaintextBitsMax(keyBits: number): number {
  return keyBits - 1;
}

export function sumPacking(strideBits: number, keyBits: number, packing: boolean): SumPacking {
  return { strideBits, perCiphertext: packing ? Math.max(1, Math.floor(plaintextBitsMax(keyBits) / strideBits)) : 1 };
}
