/**
 * Detects ties that real columns hardly ever have, but sums forged to find labels do: where a party answers every
 * candidate with the gradient of one instance, all instances of a class tie.
 *
 * In a large node candidates of an honest party tie where a column is duplicated, or where no instance is between
 * neighbouring thresholds. Neighbours are close in their owner's order, so only ranks far apart count. With noise these
 * do not tie: each candidate has its own noise, except for a few that split the node identically.
 */

/** In smaller nodes many candidates split the few instances identically. */
const sampledMin = 50;
const placesMin = 8;
/** Minimum share of the candidates with instances on both sides. */
const shareMin = 1 / 8;
/** Both directions of missing values lie between neighbouring thresholds. */
const apartMin = 3;

export interface Tie {
  readonly sampledCount: number;
  /** Ranks of the tied candidates in the node's order; null with noise, where there is no order. */
  readonly ranks: readonly number[] | null;
  readonly tiedCount: number;
  /** Number of candidates with instances on both sides. */
  readonly splittingCount: number;
}

export function isAlarming({ sampledCount, ranks, tiedCount, splittingCount }: Tie): boolean {
  if (ranks === null) return tiedCount >= placesMin;
  return sampledCount >= sampledMin && tiedCount >= shareMin * splittingCount && placesApart(ranks) >= placesMin;
}

function placesApart(ranks: readonly number[]): number {
  const sorted = [...ranks].sort((a, b) => a - b);
  return sorted.filter((rank, i) => i === 0 || rank - sorted[i - 1] >= apartMin).length;
}
