/**
 * The negacyclic transform: a product in Z_p[X]/(X^N + 1) becomes N products of residues. Index i of a transformed
 * element is its value at psi^(2 rev(i) + 1): rev reverses the log2 N bits of i, and psi is g^((p - 1) / 2N) for the
 * least g >= 2 with psi^N = -1. (Cooley and Tukey forward, Gentleman and Sande backward; no reordering between them.)
 */
import { assert } from "../../../base/assert.ts";
import { add, invert, multiply, power, type Prime, primeOf, subtract } from "./residues.ts";

export class Transform {
  readonly prime: Prime;
  readonly degree: number;
  readonly psi: number;
  /** psi^rev(i), and its inverse. */
  readonly #roots: Float64Array;
  readonly #inverseRoots: Float64Array;
  readonly #inverseDegree: number;

  constructor(prime: bigint, degree: number) {
    this.prime = primeOf(prime);
    this.degree = degree;
    this.psi = leastRoot(this.prime, degree);
    this.#roots = reversedPowers(this.psi, degree, this.prime);
    this.#inverseRoots = reversedPowers(invert(this.psi, this.prime), degree, this.prime);
    this.#inverseDegree = invert(degree, this.prime);
  }

  /** In place: coefficients become values. */
  forward(a: Float64Array): Float64Array {
    assert(a.length === this.degree, "a ring element has N coefficients");
    const { prime, degree } = this;
    for (let blocks = 1, span = degree / 2; blocks < degree; blocks *= 2, span /= 2) {
      for (let i = 0; i < blocks; i++) {
        const root = this.#roots[blocks + i];
        const end = 2 * i * span + span;
        for (let j = end - span; j < end; j++) {
          const low = a[j];
          const high = multiply(a[j + span], root, prime);
          a[j] = add(low, high, prime);
          a[j + span] = subtract(low, high, prime);
        }
      }
    }
    return a;
  }

  /** In place: values become coefficients. */
  backward(a: Float64Array): Float64Array {
    assert(a.length === this.degree, "a ring element has N values");
    const { prime, degree } = this;
    for (let blocks = degree / 2, span = 1; blocks >= 1; blocks /= 2, span *= 2) {
      for (let i = 0; i < blocks; i++) {
        const root = this.#inverseRoots[blocks + i];
        const end = 2 * i * span + span;
        for (let j = end - span; j < end; j++) {
          const low = a[j];
          const high = a[j + span];
          a[j] = add(low, high, prime);
          a[j + span] = multiply(subtract(low, high, prime), root, prime);
        }
      }
    }
    for (let j = 0; j < degree; j++) a[j] = multiply(a[j], this.#inverseDegree, prime);
    return a;
  }

  /** target += a b, value by value. */
  addProduct(target: Float64Array, a: Float64Array, b: Float64Array): void {
    for (let i = 0; i < this.degree; i++) target[i] = add(target[i], multiply(a[i], b[i], this.prime), this.prime);
  }
}

function leastRoot(prime: Prime, degree: number): number {
  for (let g = 2; ; g++) {
    const psi = power(g, (prime.p - 1) / (2 * degree), prime);
    if (power(psi, degree, prime) === prime.p - 1) return psi;
  }
}

function reversedPowers(base: number, degree: number, prime: Prime): Float64Array {
  const powers = new Float64Array(degree);
  for (let exponent = 0, value = 1; exponent < degree; exponent++, value = multiply(value, base, prime))
    powers[reverseBits(exponent, degree)] = value;
  return powers;
}

/** The log2(degree) bits of an index, in reverse. */
export function reverseBits(index: number, degree: number): number {
  let reversed = 0;
  for (let bit = 1, mirrored = degree / 2; bit < degree; bit *= 2, mirrored /= 2)
    if ((index & bit) !== 0) reversed += mirrored;
  return reversed;
}
