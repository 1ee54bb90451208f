/**
 * The order of a node's candidates in a job with hidden sums: gains in integers, as two parties can compute them on
 * shares (docs/hidden-sums.md). With x = G and y = H + lambda of the left side, and T = G and S = H + 2 lambda of the
 * node, all on the grid,
 *
 *   x^2 / y + (T - x)^2 / (S - y)  =  T^2 / S  +  (S x - T y)^2 / (S y (S - y))
 *
 * and T and S are those of the node. So candidates are ordered by u^2 / (y (S - y)), where
 *
 *   u = floor((S x - T y) / 2^bitlength(S))
 *
 * keeps at least half a step of the grid of x. A candidate needs min_child_weight, and one step of the grid, on both
 * sides, and u other than 0. The first of equal candidates is the better one.
 *
 * Everything is decided exactly: in doubles where their error is too small to matter, otherwise in big integers.
 */
import { assert } from "../../base/assert.ts";

/** |G| of any side, and S, are below 2^32 (crypto/maximum). */
export const sumBitsMax = 32;

/** A candidate, for comparison with others of the same node. */
export interface Score {
  /** |u|, not 0. */
  readonly size: number;
  readonly y: number;
  /** S - y. */
  readonly rest: number;
}

/** Products of four rounded factors are off by less than this, relative to their size. */
const relativeError = 2 ** -49;

export class IntegerRule {
  /** In steps of the grid of h. */
  readonly lambda: number;
  /** Of H on either side, in steps. */
  readonly minimum: number;

  /** @param resolution of the grid of h */
  constructor(resolution: number, lambda: number, minChildWeight: number) {
    this.lambda = Math.round(lambda / resolution);
    this.minimum = Math.max(1, Math.ceil(minChildWeight / resolution));
  }

  /** The order of a node's candidates. @param g and h of the node */
  node(g: number, h: number): NodeRule {
    return new NodeRule(g, h + 2 * this.lambda, this);
  }
}

export class NodeRule {
  /** T. */
  readonly total: number;
  /** S. */
  readonly weight: number;
  readonly lambda: number;
  readonly #least: number;
  readonly #weightBits: number;

  constructor(total: number, weight: number, { lambda, minimum }: Pick<IntegerRule, "lambda" | "minimum">) {
    assert(Math.abs(total) < 2 ** sumBitsMax && weight < 2 ** sumBitsMax, "sums of a node fit the rule");
    this.total = total;
    this.weight = weight;
    this.lambda = lambda;
    this.#least = minimum + lambda;
    this.#weightBits = weight <= 0 ? 0 : Math.floor(Math.log2(weight)) + 1;
  }

  /** m (S - m), which y (S - y) is not below where both sides have the minimum; null: no candidate is allowed. */
  get leastProduct(): bigint | null {
    if (this.weight < 2 * this.#least) return null;
    return BigInt(this.#least) * BigInt(this.weight - this.#least);
  }

  /** Of a candidate with these sums on its left side; null: it is not allowed. */
  score(g: number, h: number): Score | null {
    const y = h + this.lambda;
    const rest = this.weight - y;
    if (!(y >= this.#least && rest >= this.#least)) return null;
    const size = Math.abs(this.#deviation(g, y));
    return size === 0 ? null : { size, y, rest };
  }

  /** u: in two limbs of x and y, each of which is exact. */
  #deviation(x: number, y: number): number {
    const [xHigh, yHigh] = [Math.floor(x / limb), Math.floor(y / limb)];
    const low = this.weight * (x - xHigh * limb) - this.total * (y - yHigh * limb);
    const carry = Math.floor(low / limb);
    const high = this.weight * xHigh - this.total * yHigh + carry;
    const bits = this.#weightBits;
    if (bits >= limbBits) return Math.floor(high / 2 ** (bits - limbBits));
    return Math.floor((high * limb + (low - carry * limb)) / 2 ** bits);
  }
}

const limbBits = 16;
const limb = 2 ** limbBits;

/** Whether a candidate is better than one before it in tie order. */
export function isBetter(score: Score, before: Score): boolean {
  const own = score.size * score.size * (before.y * before.rest);
  const other = before.size * before.size * (score.y * score.rest);
  if (Math.abs(own - other) > relativeError * Math.max(own, other)) return own > other;
  const [a, b] = [score, before].map(({ size, y, rest }) => ({
    square: BigInt(size) ** 2n,
    product: BigInt(y) * BigInt(rest),
  }));
  return a.square * b.product > b.square * a.product;
}

/** The better of two candidates or null; the first one on a tie. */
export function betterScored<C extends { readonly score: Score }>(first: C | null, second: C | null): C | null {
  if (first === null || second === null) return first ?? second;
  return isBetter(second.score, first.score) ? second : first;
}
