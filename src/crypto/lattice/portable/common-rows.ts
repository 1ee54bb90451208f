/**
 * The public rows of an attempt. They are drawn in transformed form, so no transform is needed. Blocks are drawn on
 * first use and kept: 16 bytes per row in set A, 24 in B.
 */
import { drawUniform } from "./samplers.ts";
import type { LatticeSet } from "../parameters/sets.ts";
import { KeyStream } from "./streams.ts";

/** Values of a ring element modulo each prime. */
export type Limbs = readonly Float64Array[];

export class CommonRows {
  readonly #set: LatticeSet;
  readonly #key: Uint8Array;
  readonly #blocks = new Map<number, Limbs>();
  #maskRow: Limbs | undefined;

  constructor(set: LatticeSet, key: Uint8Array) {
    this.#set = set;
    this.#key = key.slice();
  }

  /** a_k: the rows kN to kN + N - 1 are its rotations. */
  block(k: number): Limbs {
    let block = this.#blocks.get(k);
    if (block === undefined) this.#blocks.set(k, (block = this.#draw("row", k)));
    return block;
  }

  /** a*, which masks hints. */
  maskRow(): Limbs {
    return (this.#maskRow ??= this.#draw("maskRow", 0));
  }

  #draw(domain: "row" | "maskRow", k: number): Limbs {
    const { primes, degree } = this.#set;
    return primes.map((prime, limb) => drawUniform(new KeyStream(this.#key, domain, limb, k), degree, Number(prime)));
  }
}

/** a(1/X) of a transformed element: values at inverse points, which is the array reversed. */
export const adjoint = (limbs: Limbs): Limbs => limbs.map((limb) => limb.toReversed());
