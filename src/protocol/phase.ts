/**
 * The phases of a party's work, as in "the walk of one gradient" (ARCHITECTURE.md). The roles report where a phase
 * begins and ends; events contain only names and counts.
 */
export const phases = ["encrypt", "send", "aggregate", "return", "decrypt", "decide"] as const;

export type Phase = (typeof phases)[number];

/** One edge of a phase. */
export interface PhaseEdge {
  /** The party that works: encrypt, decrypt and decide are the active party's phases, the others a passive party's. */
  readonly party: string;
  readonly phase: Phase;
  readonly began: boolean;
  readonly tree: number;
  /** How often this tree's nodes have been requested: in depth-wise growth the level. */
  readonly level: number;
}

export type OnPhase = (edge: PhaseEdge) => void;
