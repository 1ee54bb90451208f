/**
 * What a party is doing at a moment, in the words of the walk of one gradient (ARCHITECTURE.md). The roles say where a
 * phase begins and ends; nothing but names and counts passes through here.
 */
export const phases = ["encrypt", "send", "aggregate", "return", "decrypt", "decide"] as const;

export type Phase = (typeof phases)[number];

/** One edge of a phase. */
export interface PhaseEdge {
  /** Whose work it is: encrypt, decrypt and decide are the active party's, the others belong to a passive one. */
  readonly party: string;
  readonly phase: Phase;
  readonly began: boolean;
  readonly tree: number;
  /** How often this tree's nodes have been asked for: in depth-wise growth the level. */
  readonly level: number;
}

export type OnPhase = (edge: PhaseEdge) => void;
