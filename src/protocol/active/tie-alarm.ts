/**
 * Ties that columns of people hardly ever make, but sums that were made up to find labels do: where a party answers
 * every candidate with the gradient of one person, all people of a class tie.
 *
 * In a large node the columns of an honest party tie where a column is there twice, or where nobody stands between
 * neighbouring thresholds. Neighbours are near in their owner's order, so what counts are the places far from each
 * other. With noise nothing of that ties: each candidate has noise of its own, but for a few that part people alike.
 */

/** In smaller nodes many candidates part the same few people. */
const peopleMin = 50;
const placesMin = 8;
/** Of the candidates with people on both sides. */
const shareMin = 1 / 8;
/** Both directions of missing values stand between neighbouring thresholds. */
const apartMin = 3;

export interface Tie {
  readonly sampledCount: number;
  /** Ranks of those that tie in the node's order; null with noise, where there is none. */
  readonly ranks: readonly number[] | null;
  readonly tiedCount: number;
  /** Those with people on both sides. */
  readonly partingCount: number;
}

export function isAlarming({ sampledCount, ranks, tiedCount, partingCount }: Tie): boolean {
  if (ranks === null) return tiedCount >= placesMin;
  return sampledCount >= peopleMin && tiedCount >= shareMin * partingCount && placesApart(ranks) >= placesMin;
}

function placesApart(ranks: readonly number[]): number {
  const sorted = [...ranks].sort((a, b) => a - b);
  return sorted.filter((rank, i) => i === 0 || rank - sorted[i - 1] >= apartMin).length;
}
