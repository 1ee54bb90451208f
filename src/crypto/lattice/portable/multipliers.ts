/** The multipliers of g and h in a ciphertext, and the conversion of a plaintext back to sums. */
import { modulo } from "../../integers.ts";
import { inverseModulo } from "../parameters/shares.ts";
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
  if (set.groups === 2) {
    const multiplier = t % 2n === 0n ? exactMultiplier(q, t) : q / t;
    return [0, 1].map((column) => [{ column, multiplier }]);
  }
  return [
    [
      { column: 0, multiplier: (q << BigInt(slotBits)) / t },
      { column: 1, multiplier: q / t },
    ],
  ];
}

/**
 * D = (j q + 1) / t with j = -1 / q modulo t, a power of two: D Z is j Z q / t + Z / t, which is within 1 of a multiple
 * of q / t for every Z below t. With floor(q / t) it would be off by up to Z, which shows a masked sum (shares.ts).
 */
function exactMultiplier(q: bigint, t: bigint): bigint {
  return (modulo(-inverseModulo(q, t), t) * q + 1n) / t;
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
