/**
 * The tournament of a batch: rounds in each of which the candidates of a node form groups, and the best of each group
 * stays. A round takes nine flights, and one more for each doubling of a group's size from 4 on; a group of n compares
 * all n (n - 1) / 2 pairs. So groups are small while there are many candidates. Both parties derive it from the terms.
 */
import { bitsMax, bitsMin, candidatesMax, type MaximumTerms, ringBits } from "./maximum.ts";
import { refused, type TransferCounts } from "./transfers.ts";
import { comparisonTransfers } from "./gates.ts";

/** The most candidates of nodes that are compared at once: their transfers, some 10 KB each, are held in memory. */
const candidatesAtOnce = 1 << 14;
const lastGroup = 8;

/** Widths of the numbers that are compared, and what bounds them. B is terms.bits. */
export interface Widths {
  /** B */
  readonly bits: number;
  /** Of v = (S x - T y) 2^j + 2^(2B), which is positive and below 2^(2B+1), and of N <= 2^(2B) when it is new. */
  readonly ring: number;
  /** Of the shares that the parties bring, at most that. */
  readonly shares: number;
  /** Of D < 2^(2B-2), and of D - minimum with a sign. */
  readonly product: number;
  /** Of N_i D_j - N_j D_i, below 2^(4B-2) in magnitude, with a sign. */
  readonly difference: number;
}

export function widthsOf({ bits, shareBits = ringBits(bits) }: MaximumTerms): Widths {
  return { bits, ring: ringBits(bits), shares: shareBits, product: 2 * bits - 1, difference: 4 * bits - 1 };
}

/** @throws TandemError PROTOCOL_STATE for terms out of range */
export function checkTerms({ bits, nodes, shareBits = bits + 2 }: MaximumTerms): void {
  if (!Number.isSafeInteger(bits) || bits < bitsMin || bits > bitsMax)
    throw refused(`sums of ${bits} bits cannot be compared; from ${bitsMin} to ${bitsMax} can`);
  if (!Number.isSafeInteger(shareBits) || shareBits < bits + 2 || shareBits > ringBits(bits))
    throw refused(`shares of ${shareBits} bits; sums of ${bits} bits have ${bits + 2} to ${ringBits(bits)}`);
  for (const { candidates } of nodes)
    if (!Number.isSafeInteger(candidates) || candidates < 1 || candidates > candidatesMax)
      throw refused(`a node of ${candidates} candidates; from 1 to ${candidatesMax} can be compared`);
}

/** Runs of nodes that are compared at once, each from its first node to the one after its last. */
export function partsOf(
  nodes: MaximumTerms["nodes"],
  most = candidatesAtOnce,
): { readonly from: number; readonly to: number }[] {
  const parts: { from: number; to: number }[] = [];
  let held = Number.POSITIVE_INFINITY;
  nodes.forEach(({ candidates }, node) => {
    if (held + candidates > most) {
      parts.push({ from: node, to: node });
      held = 0;
    }
    held += candidates;
    parts[parts.length - 1].to = node + 1;
  });
  return parts;
}

/** Sizes of the groups of each round; the last joins all that are left. */
export function groupSizes(counts: readonly number[]): number[] {
  const sizes: number[] = [];
  let most = Math.max(...counts);
  while (most > lastGroup) {
    const size = most > 160 ? 2 : most > 40 ? 4 : 5;
    sizes.push(size);
    most = Math.ceil(most / size);
  }
  return [...sizes, lastGroup + 1];
}

/** A round of the tournament; places count the candidates of all nodes. */
export interface Round {
  /** Candidates that take part. */
  readonly count: number;
  /** Pairs of a group, the earlier one first. */
  readonly earlier: Uint32Array;
  readonly later: Uint32Array;
  /** Per group its first member. */
  readonly firsts: Uint32Array;
  /** All other members, each with its group and the pairs that it is in. */
  readonly others: readonly { readonly place: number; readonly group: number; readonly pairs: readonly number[] }[];
  /** Groups of each node. */
  readonly counts: readonly number[];
}

export function roundOf(counts: readonly number[], size: number): Round {
  const [earlier, later, firsts]: number[][] = [[], [], []];
  const others: { place: number; group: number; pairs: number[] }[] = [];
  let start = 0;
  for (const count of counts) {
    for (let first = start; first < start + count; first += size) {
      const members = Math.min(size, start + count - first);
      const pairs: number[][] = Array.from({ length: members }, () => []);
      for (let i = 0; i < members; i++)
        for (let j = i + 1; j < members; j++) {
          pairs[i].push(earlier.length);
          pairs[j].push(earlier.length);
          earlier.push(first + i);
          later.push(first + j);
        }
      for (let i = 1; i < members; i++) others.push({ place: first + i, group: firsts.length, pairs: pairs[i] });
      firsts.push(first);
    }
    start += count;
  }
  return {
    count: start,
    earlier: Uint32Array.from(earlier),
    later: Uint32Array.from(later),
    firsts: Uint32Array.from(firsts),
    others,
    counts: counts.map((count) => Math.ceil(count / size)),
  };
}

/** All rounds. In the last each node has one candidate more: the rival, first. */
export function roundsOf(counts: readonly number[]): Round[] {
  const sizes = groupSizes(counts);
  let left = counts;
  return sizes.map((size, i) => {
    const round = roundOf(i === sizes.length - 1 ? left.map((count) => count + 1) : left, size);
    left = round.counts;
    return round;
  });
}

/** Transfers that a part takes: those that the active and the passive party receive. */
export function transferCounts(widths: Widths, counts: readonly number[]): { active: number; passive: number } {
  const { bits, ring, shares, product, difference } = widths;
  const all = counts.reduce((sum, count) => sum + count, 0);
  const [carry, allowed] = [comparisonTransfers(all, bits), comparisonTransfers(all, product - 1)];
  // v and D; the select of the carry and of what is allowed, and which of that is offered.
  let active = counts.length * (bits + ring) + product * all + carry.tree + allowed.tree + 3 * all;
  // The wrap of v, the square of u, and the wrap of N.
  let passive = all + (ring - 1) * all + 2 * all + 2 * all;
  // The wraps of x and y.
  if (shares < ring) passive += 2 * all;
  passive += carry.digits + carry.tree + allowed.digits + allowed.tree;
  for (const { count, earlier, others } of roundsOf(counts)) {
    const sign = comparisonTransfers(earlier.length, difference - 1);
    const both = (product + 1) * count + sign.tree + others.reduce((sum, { pairs }) => sum + pairs.length, 0);
    active += both;
    passive += both + sign.digits;
  }
  return { active, passive };
}

export function countsFor(isActive: boolean, { active, passive }: { active: number; passive: number }): TransferCounts {
  return isActive ? { asReceiver: active, asSender: passive } : { asReceiver: passive, asSender: active };
}
