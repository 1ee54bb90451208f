/** The chains of a party's bins, restricted to the candidates that are ever answered. */
import type { BinChains } from "../../crypto/lattice/kernel.ts";
import type { SummedRows } from "../hidden-scheme.ts";

export interface HintedChains {
  /** Targets are indices among the candidates with hints. */
  readonly chains: BinChains;
  /** Per candidate of the job its index among those with hints, or -1. */
  readonly hintOf: Int32Array;
}

export function hintedChains({ plan, offered }: SummedRows): HintedChains {
  const hintOf = new Int32Array(plan.candidates.length).fill(-1);
  offered.forEach((place, hint) => (hintOf[place] = hint));
  const { binCounts, chainOffsets, sources } = plan;
  const targets = plan.targets.map((place) => (place < 0 ? -1 : hintOf[place]));
  return { chains: { binCounts, chainOffsets, sources, targets }, hintOf };
}
