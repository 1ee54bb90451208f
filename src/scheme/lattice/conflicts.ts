/** Options that have no effect in the lattice scheme. They are rejected: a user who sets one expects an effect. */
import type { Conflict, GivenOptions } from "../scheme.ts";

export function latticeConflicts({ keyBitsGiven }: GivenOptions): readonly Conflict[] {
  if (keyBitsGiven === null) return [];
  const why = "its security does not depend on a key length";
  const advice = `cannot be used with the lattice scheme: ${why}. Leave it out, or use scheme paillier`;
  return [{ field: [keyBitsGiven], advice }];
}
