/** Elements of R_q by their residues: products with public rows, in transformed form where that saves a transform. */
import type { Limbs } from "./common-rows.ts";
import { residueOf } from "./residues.ts";
import type { LatticeSet } from "../parameters/sets.ts";
import { Transform } from "./transform.ts";

export class Ring {
  readonly set: LatticeSet;
  readonly transforms: readonly Transform[];

  constructor(set: LatticeSet) {
    this.set = set;
    this.transforms = set.primes.map((prime) => new Transform(prime, set.degree));
  }

  zero(): Limbs {
    return this.transforms.map(() => new Float64Array(this.set.degree));
  }

  /** Transforms small signed coefficients; those that are missing are zero. */
  forward(coefficients: ArrayLike<number>): Limbs {
    return this.transforms.map((transform) => {
      const element = new Float64Array(this.set.degree);
      for (let j = 0; j < coefficients.length; j++) element[j] = residueOf(coefficients[j], transform.prime);
      return transform.forward(element);
    });
  }

  /** target += a b, all transformed. */
  addProduct(target: Limbs, a: Limbs, b: Limbs): void {
    this.transforms.forEach((transform, l) => transform.addProduct(target[l], a[l], b[l]));
  }

  /** Coefficients of a b, both transformed. */
  product(a: Limbs, b: Limbs): Limbs {
    const product = this.zero();
    this.addProduct(product, a, b);
    return this.backward(product);
  }

  /** In place. */
  backward(limbs: Limbs): Limbs {
    this.transforms.forEach((transform, l) => transform.backward(limbs[l]));
    return limbs;
  }

  /** Adds small signed coefficients, in place. */
  addSmall(limbs: Limbs, coefficients: Int8Array): Limbs {
    this.transforms.forEach(({ prime: { p } }, l) => {
      const limb = limbs[l];
      for (let j = 0; j < limb.length; j++) {
        const sum = limb[j] + coefficients[j];
        limb[j] = sum >= p ? sum - p : sum < 0 ? sum + p : sum;
      }
    });
    return limbs;
  }
}

const rings = new Map<LatticeSet, Ring>();

/** Tables of roots are made once per process and set. */
export function ringOf(set: LatticeSet): Ring {
  let ring = rings.get(set);
  if (ring === undefined) rings.set(set, (ring = new Ring(set)));
  return ring;
}
