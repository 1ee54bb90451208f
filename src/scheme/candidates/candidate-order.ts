/**
 * The order in which a node's candidates stand in their owner's table, without names. The active party breaks ties with
 * it and then names one candidate, so the owner does not learn which other candidates tied. Otherwise a party that has
 * the same sums for many instances would learn which of them have equal labels.
 *
 * An entry is a category group, or another candidate that is not suppressed: first the groups, then the others in the
 * secret order. Each entry has a rank, counted from 0 without gaps, so that only the order is revealed.
 *
 * @reveals active: where candidates tie for the best, the order of the node's candidates in their owner's table,
 *   without names
 */
import type { Named } from "./best-candidates.ts";
import type { CandidateRows } from "./candidate-rows.ts";
import type { CandidateSet } from "./candidate-set.ts";
import { groupedCount } from "./category-group.ts";

type Entries = Pick<CandidateRows, "groups" | "suppressed">;

export function entryCount({ groups, suppressed }: Entries): number {
  const singles = suppressed.subarray(groupedCount(groups));
  return groups.length + singles.reduce((sum, isSuppressed) => sum + 1 - isSuppressed, 0);
}

/** The entry indices of candidates as decisions name them. */
export function entryIndices(named: readonly Named[], { groups, suppressed }: Entries): number[] {
  const first = groupedCount(groups);
  const entryAt = new Map<number, number>();
  let entry = groups.length;
  for (let position = first; position < suppressed.length; position++)
    if (suppressed[position] === 0) entryAt.set(position, entry++);
  return named.map((each) => (each.kind === "set" ? each.set.group : (entryAt.get(each.position) ?? -1)));
}

/** Per entry its rank among the entries, in tie order. */
export function tieOrder({ groups, byPosition }: CandidateSet, suppressed: Uint8Array): Uint32Array {
  const inTable = [
    ...groups.map(({ firstRank }) => firstRank),
    ...Array.from(byPosition.subarray(groupedCount(groups))).filter(
      (_, i) => suppressed[groupedCount(groups) + i] === 0,
    ),
  ];
  const byRank = Array.from(inTable.keys()).sort((a, b) => inTable[a] - inTable[b]);
  const order = new Uint32Array(inTable.length);
  byRank.forEach((entry, rank) => (order[entry] = rank));
  return order;
}

/** Whether the ranks are a permutation of 0..n-1. */
export function isOrder(ranks: Uint32Array): boolean {
  const seen = new Uint8Array(ranks.length);
  for (const rank of ranks) if (rank < ranks.length) seen[rank] = 1;
  return !seen.includes(0);
}
