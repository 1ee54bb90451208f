/**
 * The protocol of both parties for some nodes: rows of candidates, then rounds (plan.ts) in which the best of each
 * group stays. A and P hold shares a and p of a number modulo 2^width. If the number is below half of that, the shares'
 * sum exceeds 2^width unless the highest bits of both are 0: with p' and q' for "the highest bit of A's, P's share is
 * 0", the sum exceeds it (1 - p' q') times. A product of q' with a number that A knows corrects a share in one flight.
 */
import { type Steps, together } from "./flights.ts";
import { type Column, eachOnce, type Gates, type ProductShape } from "./gates.ts";
import type { NodeTotals, Residues, SharedSums } from "./maximum.ts";
import { type Round, roundsOf, type Widths } from "./plan.ts";
import {
  bitsAt,
  constants,
  gathered,
  joined,
  minus,
  negatedWhere,
  part,
  plus,
  reduce,
  residuesOf,
  residuesOfBits,
  shiftedLeft,
  shiftedRight,
  times,
  timesBits,
  zeros,
} from "./wide-residues.ts";

/** A party's shares of what is compared, and of what is opened of the winner. */
interface Rows {
  readonly squares: Residues;
  readonly products: Residues;
  readonly gradients: Residues;
  readonly hessians: Residues;
  readonly places: Residues;
}

/** A party's shares of each node's winner. */
export type Winners = Pick<Rows, "gradients" | "hessians" | "places">;

/** Bits of a place. */
export function placeBits(counts: readonly number[]): number {
  return Math.max(1, 32 - Math.clz32(Math.max(...counts) - 1));
}

export class Tournament {
  readonly #gates: Gates;
  readonly #widths: Widths;
  readonly #counts: readonly number[];
  /** The node of each candidate. */
  readonly #nodes: Uint32Array;
  #sums: SharedSums;
  /** Of the passive party. */
  readonly #offered: Uint8Array;
  /** Of the active party. */
  readonly #totals: readonly NodeTotals[];

  /**
   * @param counts candidates of each node
   * @param offered of the active party: empty
   * @param totals of the passive party: none
   */
  constructor(
    gates: Gates,
    widths: Widths,
    counts: readonly number[],
    sums: SharedSums,
    offered: Uint8Array,
    totals: readonly NodeTotals[],
  ) {
    this.#gates = gates;
    this.#widths = widths;
    this.#counts = counts;
    this.#nodes = Uint32Array.from(counts.flatMap((count, node) => Array<number>(count).fill(node)));
    this.#sums = sums;
    this.#offered = offered;
    this.#totals = totals;
  }

  get #isActive(): boolean {
    return this.#gates.isActive;
  }

  /** An integer that is public: the active party adds it. */
  #public(value: bigint, count: number): Residues {
    return this.#isActive ? constants(value, count) : zeros(count);
  }

  async *winners(): Steps<Winners> {
    const { ring, product } = this.#widths;
    const count = this.#nodes.length;
    this.#sums = yield* this.#widened();
    const [v, products] = yield* this.#firstProducts();
    const [squares, areTooSmall] = yield* together(this.#squares(v), this.#areTooSmall(products));
    const areLargeEnough = this.#isActive ? areTooSmall.map((bit) => bit ^ 1) : areTooSmall;
    const areAllowed = yield* this.#gates.kept(areLargeEnough, this.#offered);
    const [wideSquares, keptProducts] = yield* this.#allowed(reduce(squares, ring), products, areAllowed);
    let rows: Rows = {
      squares: wideSquares,
      products: plus(keptProducts, this.#public(1n, count), product),
      gradients: this.#sums.gradients,
      hessians: this.#sums.hessians,
      places: this.#isActive ? zeros(count) : residuesOf(this.#counts.flatMap((n) => [...Array(n).keys()].map(BigInt))),
    };
    const rounds = roundsOf(this.#counts);
    for (const [i, round] of rounds.entries()) {
      const isLast = i === rounds.length - 1;
      rows = yield* this.#best(isLast ? this.#withRivals(rows, round) : rows, round, isLast);
    }
    return rows;
  }

  /** The sums modulo 2^ring: x + 2^B and y are below half of a narrower ring. */
  async *#widened(): Steps<SharedSums> {
    const { bits, ring, shares } = this.#widths;
    if (shares === ring) return this.#sums;
    const [gradients, hessians] = yield* together(
      this.#inRing(this.#sums.gradients, 2n ** BigInt(bits)),
      this.#inRing(this.#sums.hessians, 0n),
    );
    return { gradients, hessians };
  }

  /** @param offset makes the numbers positive */
  async *#inRing(narrow: Residues, offset: bigint): Steps<Residues> {
    const { ring, shares } = this.#widths;
    const count = this.#nodes.length;
    const shifted = plus(narrow, this.#public(offset, count), shares);
    const wraps = yield* this.#gates.products(
      "passive",
      eachOnce(1, count, ring - shares),
      topsAreZero(shifted, shares),
    );
    const wide = plus(shifted, shiftedLeft(wraps, shares, ring), ring);
    return minus(wide, this.#public(2n ** BigInt(shares) + offset, count), ring);
  }

  /** v = (S x - T y) 2^j + 2^(2B), the active party chooses by S 2^j and T 2^j; and D = y (S - y). */
  async *#firstProducts(): Steps<readonly [Residues, Residues]> {
    const { bits, ring, product } = this.#widths;
    const nodeCount = this.#counts.length;
    const { gradients: x, hessians: y } = this.#sums;
    const ofNodes = (factorBits: number): ProductShape => ({
      bits: factorBits,
      factorCount: nodeCount,
      factors: this.#nodes,
      widths: new Uint8Array(this.#nodes.length).fill(ring),
    });
    const shifts = this.#totals.map(({ hessian }) => BigInt(bits - hessian.toString(2).length));
    const [hessians, gradients] = [
      residuesOf(this.#totals.map(({ hessian }, i) => hessian << shifts[i])),
      reduce(residuesOf(this.#totals.map(({ gradient }, i) => gradient << shifts[i])), ring),
    ];
    const plain = this.#isActive ? gathered(residuesOf(this.#totals.map(({ hessian }) => hessian)), this.#nodes) : y;
    const shape = eachOnce(product, this.#nodes.length, product);
    // y (S - y) with y = a + p: a (S - a) + p (S - 2a) - p^2
    const [sx, ty, cross] = yield* together(
      this.#gates.products("active", ofNodes(bits), this.#isActive ? hessians : x),
      this.#gates.products("active", ofNodes(ring), this.#isActive ? gradients : y),
      this.#gates.products("active", shape, this.#isActive ? minus(minus(plain, y, product), y, product) : y),
    );
    const v = minus(sx, ty, ring);
    if (!this.#isActive) return [v, minus(cross, times(y, y, product), product)];
    const [wideS, wideT] = [gathered(hessians, this.#nodes), gathered(gradients, this.#nodes)];
    const own = minus(times(wideS, x, ring), times(wideT, y, ring), ring);
    const offset = constants(2n ** BigInt(2 * bits), this.#nodes.length);
    return [plus(plus(v, own, ring), offset, ring), plus(cross, times(y, minus(plain, y, product), product), product)];
  }

  /**
   * u^2, with u = floor(v / 2^B) - 2^B = u' + c: the carry c comes last, and (u' + c)^2 = u'^2 + c (2u' + 1).
   */
  async *#squares(v: Residues): Steps<Residues> {
    const { bits, ring } = this.#widths;
    const count = this.#nodes.length;
    const [carries, [partial, square]] = yield* together(this.#gates.carries(v, bits), this.#partialSquares(v));
    const numbers = plus(shiftedLeft(partial, 1, ring), this.#public(1n, count), ring);
    const [rest] = yield* this.#gates.select(carries, [{ values: numbers, width: ring }]);
    return plus(square, rest, ring);
  }

  /** u' and its square. */
  async *#partialSquares(v: Residues): Steps<readonly [Residues, Residues]> {
    const { bits, ring } = this.#widths;
    const count = this.#nodes.length;
    const wraps = yield* this.#gates.products("passive", eachOnce(1, count, bits), topsAreZero(v, ring));
    const highs = plus(shiftedRight(v, bits), shiftedLeft(wraps, ring - bits, ring), ring);
    const partial = minus(highs, this.#public(2n ** BigInt(bits) + 2n ** BigInt(ring - bits), count), ring);
    const cross = yield* this.#gates.products("passive", eachOnce(ring - 1, count, ring - 1), partial);
    return [partial, plus(times(partial, partial, ring), shiftedLeft(cross, 1, ring), ring)];
  }

  /** Shared bits: D < minimum. */
  #areTooSmall(products: Residues): Steps<Uint8Array> {
    const { product } = this.#widths;
    if (!this.#isActive) return this.#gates.areNegative(products, product);
    const minimums = gathered(residuesOf(this.#totals.map(({ minimum }) => minimum)), this.#nodes);
    return this.#gates.areNegative(minus(products, minimums, product), product);
  }

  /** N modulo 2^difference and D - 1, each times its shared bit. */
  async *#allowed(squares: Residues, products: Residues, bits: Uint8Array): Steps<readonly [Residues, Residues]> {
    const { ring, product, difference } = this.#widths;
    const count = this.#nodes.length;
    const tops = topsAreZero(squares, ring);
    const chosen = timesBits(tops, bits);
    // N = a + p - (1 - p' q') 2^ring; bit times p' q' = a0 p' q' + p' (1 - 2 a0) a1 q'
    const factors = this.#isActive ? joined([chosen, negatedWhere(tops, bits, difference)]) : joined([tops, chosen]);
    const columns: Column[] = [
      { values: minus(squares, this.#public(2n ** BigInt(ring), count), difference), width: difference },
      { values: minus(products, this.#public(1n, count), product), width: product },
    ];
    const [[kept, keptProducts], wraps] = yield* together(
      this.#gates.select(bits, columns),
      this.#gates.products("passive", eachOnce(1, 2 * count, difference - ring), factors),
    );
    const corrections = plus(part(wraps, 0, count), part(wraps, count, 2 * count), difference - ring);
    return [plus(kept, shiftedLeft(corrections, ring, difference), difference), keptProducts];
  }

  /** The rival of each node in front of its candidates. Its place and sums are 0. */
  #withRivals(rows: Rows, round: Round): Rows {
    const rivals = this.#totals.map(({ rival }) => rival ?? { square: 0n, product: 1n });
    const nodeCount = this.#counts.length;
    const isRival = new Set<number>();
    let start = 0;
    for (const first of round.firsts) isRival.add(first);
    // Elements of [rivals, rows], in the order of the round.
    const order = Uint32Array.from({ length: round.count }, (_, place) =>
      isRival.has(place) ? start++ : nodeCount + place - start,
    );
    const mixed = (values: Residues, own: readonly bigint[]): Residues =>
      gathered(joined([this.#isActive ? residuesOf(own) : zeros(nodeCount), values]), order);
    const none = rivals.map(() => 0n);
    return {
      squares: mixed(
        rows.squares,
        rivals.map(({ square }) => square),
      ),
      products: mixed(
        rows.products,
        rivals.map(({ product }) => product),
      ),
      gradients: mixed(rows.gradients, none),
      hessians: mixed(rows.hessians, none),
      places: mixed(rows.places, none),
    };
  }

  /** The best of each group. */
  async *#best(rows: Rows, round: Round, isLast: boolean): Steps<Rows> {
    const { bits, product, difference } = this.#widths;
    const differences = yield* this.#differences(rows, round);
    const areLaterBetter = yield* this.#gates.areNegative(differences, difference);
    const wins = yield* this.#wins(areLaterBetter, round);
    const firsts = Uint32Array.from(round.others, ({ group }) => round.firsts[group]);
    const places = Uint32Array.from(round.others, ({ place }) => place);
    const compared: [keyof Rows, number][] = [
      ["squares", difference],
      ["products", product],
    ];
    const opened: [keyof Rows, number][] = [
      ["gradients", bits + 1],
      ["hessians", bits],
      ["places", placeBits(this.#counts)],
    ];
    const kept = isLast ? opened : [...compared, ...opened];
    const columns = kept.map(([name, width]) => ({
      values: minus(gathered(rows[name], places), gathered(rows[name], firsts), width),
      width,
    }));
    const chosen = yield* this.#gates.select(wins, columns);
    const best: { -readonly [K in keyof Rows]: Residues } = { ...rows };
    kept.forEach(([name, width], column) => {
      best[name] = reduce(gathered(rows[name], round.firsts), width);
      round.others.forEach(({ group }, i) => {
        const sum = part(best[name], group, group + 1);
        sum.set(plus(sum, part(chosen[column], i, i + 1), width));
      });
    });
    return best;
  }

  /** Of each pair N_i D_j - N_j D_i. */
  async *#differences(rows: Rows, { count, earlier, later }: Round): Steps<Residues> {
    const { product, difference } = this.#widths;
    const [squares, products] = [reduce(rows.squares.slice(), difference), reduce(rows.products.slice(), product)];
    const [first, second] = [gathered(squares, earlier), gathered(squares, later)];
    const negative = minus(zeros(earlier.length), second, difference);
    const factors = new Uint32Array(2 * earlier.length);
    factors.set(later);
    factors.set(earlier, later.length);
    const numbers = joined([first, negative]);
    const shape = (bits: number, width: number): ProductShape => ({
      bits,
      factorCount: count,
      factors,
      widths: new Uint8Array(factors.length).fill(width),
    });
    // D_j = a + p - (1 - p' q') 2^product
    const tops = topsAreZero(products, product);
    const ownTops = bitsAt(gathered(tops, factors), 0);
    const [cross, wraps] = yield* together(
      this.#gates.crossProducts(shape(product, difference), products, numbers),
      this.#gates.crossProducts(shape(1, difference - product), tops, timesBits(numbers, ownTops)),
    );
    const own = times(numbers, gathered(products, factors), difference);
    const highs = shiftedLeft(minus(wraps, numbers, difference - product), product, difference);
    const all = plus(plus(cross, own, difference), highs, difference);
    return plus(part(all, 0, earlier.length), part(all, earlier.length, factors.length), difference);
  }

  /** Shared bits: whether a member of a group, not the first, is its best. */
  async *#wins(areLaterBetter: Uint8Array, { later, others }: Round): Steps<Uint8Array> {
    // It beats all that stand before it, and no later one beats it.
    let conditions = others.map(({ place, pairs }) =>
      pairs.map((pair) => areLaterBetter[pair] ^ (later[pair] !== place && this.#isActive ? 1 : 0)),
    );
    while (conditions.some(({ length }) => length > 1)) {
      const halves = conditions.map(({ length }) => Math.floor(length / 2));
      const left = conditions.flatMap((bits, i) => bits.slice(0, halves[i]));
      const right = conditions.flatMap((bits, i) => bits.slice(halves[i], 2 * halves[i]));
      const both = yield* this.#gates.ands(Uint8Array.from(left), Uint8Array.from(right), 1);
      let at = 0;
      conditions = conditions.map((bits, i) => {
        const joint = [...both.subarray(at, at + halves[i]), ...bits.slice(2 * halves[i])];
        at += halves[i];
        return joint;
      });
    }
    return Uint8Array.from(conditions, ([bit]) => bit);
  }
}

/** Of each share 1 if its highest bit is 0. */
function topsAreZero(shares: Residues, width: number): Residues {
  return residuesOfBits(bitsAt(shares, width - 1).map((bit) => bit ^ 1));
}
