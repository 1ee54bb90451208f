/** The multipliers of g and h in a ciphertext, and the conversion of a plaintext back to sums. */
import { modulo } from "../../integers.ts";
import { latticeModulus } from "../parameters/job-bounds.ts";
import type { LatticeShape } from "../kernel.ts";

/** A column of a group, with its multiplier D. */
export interface GroupColumn {
  readonly column: number;
  readonly multiplier: bigint;
}

/** Per group of a ciphertext the columns in it. */
export function groupColumns({ set, t, slotBits }: LatticeShape): readonly (readonly GroupColumn[])[] {
  const q = latticeModulus(set);
  if (set.groups === 2) return [0, 1].map((column) => [{ column, multiplier: q / t }]);
  return [
    [
      { column: 0, multiplier: (q << BigInt(slotBits)) / t },
      { column: 1, multiplier: q / t },
    ],
  ];
}

/** The multiple of q/t that is nearest to value q / 2^F. */
export function roundToPlaintext(value: bigint, t: bigint, wordBits: bigint): bigint {
  return (value * t + (1n << (wordBits - 1n))) >> wordBits;
}

/** Sums of a group's columns, in the order of groupColumns. */
export function splitSlots(plaintext: bigint, { set, slotBits }: LatticeShape): bigint[] {
  if (set.groups === 2) return [plaintext];
  const low = modulo(plaintext, 1n << BigInt(slotBits));
  return [(plaintext - low) >> BigInt(slotBits), low];
}
