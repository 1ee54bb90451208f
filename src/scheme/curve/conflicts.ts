/** Options that have no effect in the curve scheme. They are rejected: a user who sets one expects an effect. */
import type { Conflict, GivenOptions } from "../scheme.ts";

export function curveConflicts({ keyBitsGiven }: GivenOptions): readonly Conflict[] {
  if (keyBitsGiven === null) return [];
  const why = "its group has one size";
  const advice = `cannot be used with the curve scheme: ${why}. Leave it out, or use scheme paillier`;
  return [{ field: [keyBitsGiven], advice }];
}
