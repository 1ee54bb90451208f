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
  /**
   * "plain": everything except ciphertexts was compared. "begun": the tree was never finished, and the gradients that
   * were signed for it are as agreed.
   */
  readonly state: "as agreed" | "begun" | "plain" | "deviates" | "not checked";
  readonly finding: Finding | null;
}

export interface Verdict {
  readonly job: string;
  readonly parties: readonly string[];
  /** About certificates, commitments, signatures, chains and opened data. */
  readonly records: readonly Finding[];
  readonly trees: readonly TreeVerdict[];
  /** What the parties signed, or had to sign, and was not checked, with the reason. */
  readonly notChecked: readonly string[];
}

export function deviations({ records, trees }: Verdict): readonly Finding[] {
  return [...records, ...trees.flatMap(({ finding }) => (finding === null ? [] : [finding]))];
}

/** "as agreed": everything that was signed was checked, and no party deviated. */
export type Outcome = "as agreed" | "deviated" | "incomplete";

export function outcomeOf(verdict: Verdict): Outcome {
  if (deviations(verdict).length > 0) return "deviated";
  const isChecked = ({ state }: TreeVerdict): boolean => state === "as agreed" || state === "begun";
  const isWhole = verdict.notChecked.length === 0 && verdict.trees.every(isChecked);
  return isWhole ? "as agreed" : "incomplete";
}
