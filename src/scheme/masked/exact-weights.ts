/**
 * A model's leaf weights as exact integers at one common power of two: the numbers that masked scoring shares and sums.
 *
 * Weights are float32, or with dart products of two such numbers. Integers are residues modulo 2^(32 limbs), with
 * enough limbs that the sum of one leaf of every tree can never wrap: its size is bounded by the largest weight of each
 * tree. Passive parties accept limbsMax of them. Weights that would need more are rounded to 2^-90 of the largest sum.
 *
 * A margin is the base plus the exact sum, rounded once. Adding weights one by one in double, as plain scoring does,
 * gives the same bits if none of these additions rounds: a base in float32 and weights whose bits are within 53 places
 * of the largest sum. Otherwise the two may differ in the last bit, and this one is more accurate.
 */
import { assert } from "../../base/assert.ts";
import { bitLength } from "../../crypto/integers.ts";
import type { LeafNode, Tree } from "../../gbdt/tree/tree.ts";

/** Leaf weights as residues, and sums of them as margins. */
export interface ScoreWeights {
  readonly limbs: number;
  /** Writes a weight's residue. */
  write(target: Uint32Array, place: number, weight: number): void;
  /** The margin for a base and the sum of residues. */
  margin(base: number, residues: Uint32Array, place: number): number;
}

/** whole * 2^exponent. */
interface Binary {
  readonly whole: bigint;
  readonly exponent: number;
}

/** With an odd whole number, or 0. */
function binary(value: number): Binary {
  assert(Number.isFinite(value), "a finite weight");
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  const bits = view.getBigUint64(0);
  const biased = Number((bits >> 52n) & 0x7ffn);
  let whole = BigInt.asUintN(52, bits) | (biased === 0 ? 0n : 1n << 52n);
  if (whole === 0n) return { whole, exponent: 0 };
  let exponent = Math.max(biased, 1) - 1075;
  for (; (whole & 1n) === 0n; whole >>= 1n) exponent++;
  return { whole: value < 0 ? -whole : whole, exponent };
}

/** At another power of two, rounded down if that is above its own. */
function at(exponent: number, { whole, exponent: own }: Binary): bigint {
  return whole === 0n ? 0n : own >= exponent ? whole << BigInt(own - exponent) : whole >> BigInt(exponent - own);
}

/** The nearest double. */
function rounded({ whole, exponent }: Binary): number {
  // Number() rounds to nearest, ties to even. A power of two in normal numbers changes nothing but the exponent.
  return exponent < -1000 ? (Number(whole) * 2 ** (exponent + 1000)) / 2 ** 1000 : Number(whole) * 2 ** exponent;
}

function weightsOf(leaf: LeafNode): readonly number[] {
  return leaf.weights ?? [leaf.weight];
}

/**
 * Limbs of a sum that passive parties accept. Gradients on a grid of 2^-24 over 2^24 instances give float32 weights of
 * at most 24 + 24 + 24 bits, so that 2^20 trees fit.
 */
export const limbsMax = 3;

export class ExactWeights implements ScoreWeights {
  readonly limbs: number;
  /** The integer 1 is the weight 2^exponent. */
  readonly #exponent: number;

  constructor(trees: readonly Tree<unknown>[]) {
    const perTree = trees.map((tree) =>
      tree.flatMap((node) => (node.kind === "leaf" ? weightsOf(node).map(binary) : [])),
    );
    const exponents = perTree.flat().flatMap(({ whole, exponent }) => (whole === 0n ? [] : [exponent]));
    const least = exponents.reduce((some, exponent) => Math.min(some, exponent), exponents[0] ?? 0);
    const bound = perTree.reduce((sum, weights) => {
      const sizes = weights.map((weight) => at(least, weight)).map((n) => (n < 0n ? -n : n));
      return sum + sizes.reduce((most, size) => (size > most ? size : most), 0n);
    }, 0n);
    const bits = bitLength(bound) + 1; // one for the sign
    // A weight that is rounded down changes by less than 1: one bit more for the sum of these.
    const dropped = bits <= 32 * limbsMax ? 0 : bits + 1 - 32 * limbsMax;
    this.#exponent = least + dropped;
    this.limbs = Math.min(limbsMax, Math.ceil(bits / 32));
  }

  write(target: Uint32Array, place: number, weight: number): void {
    const integer = at(this.#exponent, binary(weight));
    for (let limb = 0; limb < this.limbs; limb++)
      target[place + limb] = Number(BigInt.asUintN(32, integer >> BigInt(32 * limb)));
  }

  /** base + the sum of a residue, rounded once. */
  margin(base: number, residues: Uint32Array, place: number): number {
    let integer = 0n;
    for (let limb = this.limbs - 1; limb >= 0; limb--) integer = (integer << 32n) | BigInt(residues[place + limb]);
    const sum = { whole: BigInt.asIntN(32 * this.limbs, integer), exponent: this.#exponent };
    const start = binary(base);
    const exponent = start.whole === 0n ? sum.exponent : Math.min(sum.exponent, start.exponent);
    return rounded({ whole: at(exponent, sum) + at(exponent, start), exponent });
  }
}
