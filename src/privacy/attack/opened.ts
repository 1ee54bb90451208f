/**
 * A5: upper bound of what the best candidates of all nodes tell, where sums are hidden, beyond the outcomes of splits.
 * Of a node with C candidates the active party learns which one is opened, or that none is, at most: log2(C + 1) bits.
 * If the party then splits the node, the opened sums follow from the outcome, and tell nothing more. Otherwise they
 * tell at most the bits of two numbers. The bound is over all people and columns together, for any algorithm.
 */
import { numbersOpened, openedBitsMax } from "../spending.ts";
import type { Transcript } from "./transcript.ts";

/** Candidates that were opened, and an upper bound of the bits that they tell, over all people and columns. */
export interface OpenedCandidates {
  readonly count: number;
  readonly bits: number;
  /** The transcript says which they are, so that they can be attacked. */
  readonly areInTranscript: boolean;
}

/** @param sumBits sums of h are below 2^sumBits, those of g too in magnitude */
export function openedOf(transcript: Transcript, sumBits: number): OpenedCandidates {
  return { count: openedCounts(transcript).opened, bits: openedBits(transcript, sumBits), areInTranscript: true };
}

/** Where it is not known which nodes opened a candidate: as if each did, to any active party. */
export function openedAtMost(nodes: number): OpenedCandidates {
  return { count: nodes, bits: openedBitsMax(numbersOpened * nodes), areInTranscript: false };
}

/** @param sumBits sums of h are below 2^sumBits, those of g too in magnitude */
export function openedBits({ trees }: Transcript, sumBits: number): number {
  let bits = 0;
  for (const { nodes } of trees)
    for (const { suppressed, won } of nodes) {
      bits += Math.log2(suppressed.length + 1);
      if (won === null && suppressed.includes(0)) bits += 2 * sumBits + 1;
    }
  return bits;
}

/** Candidates that were opened, and of them those whose node the party did not split. */
export function openedCounts({ trees }: Transcript): { readonly opened: number; readonly lost: number } {
  const opened = trees.flatMap(({ nodes }) => nodes.filter(({ suppressed }) => suppressed.includes(0)));
  return { opened: opened.length, lost: opened.filter(({ won }) => won === null).length };
}
