/** The result of a verification. */

export interface Finding {
  /** The party that deviated; null: one of the parties in `what`, but the evidence does not show which. */
  readonly party: string | null;
  /** Null: not about a tree. */
  readonly tree: number | null;
  readonly what: string;
}

export interface TreeVerdict {
  readonly tree: number;
  /** "plain": everything except ciphertexts was compared. */
  readonly state: "as agreed" | "plain" | "deviates" | "not checked";
  readonly finding: Finding | null;
}

export interface Verdict {
  readonly job: string;
  readonly parties: readonly string[];
  /** About commitments, certificates, signatures and chains. */
  readonly records: readonly Finding[];
  readonly trees: readonly TreeVerdict[];
  /** What could not be checked, and why. */
  readonly notChecked: readonly string[];
}

export function deviations({ records, trees }: Verdict): readonly Finding[] {
  return [...records, ...trees.flatMap(({ finding }) => (finding === null ? [] : [finding]))];
}
