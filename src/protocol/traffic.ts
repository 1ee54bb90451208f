/** Payload bytes, without the framing of the transport. */
export interface Traffic {
  activeToPassive: number;
  passiveToActive: number;
}

/** What names the candidates of a decision, four bytes each. */
export function decisionBytes(
  candidates: readonly number[],
  sets: readonly { readonly categories: readonly number[] }[],
): number {
  return sets.reduce((bytes, { categories }) => bytes + 4 * categories.length, 4 * candidates.length);
}
