/**
 * Logarithms of small multiples of one point, by baby steps and giant steps (Shanks). The table has y of k B' for k up
 * to `babies`; -k B' has the same y. A number within the bound is j (2 babies + 1) +- k for one j.
 */
import { add, affine, basePoint, curveConstant as d, fieldPrime as p, inverted, neutral } from "../edwards25519.ts";
import type { Point } from "../edwards25519.ts";
import { modulo } from "../integers.ts";

type AffinePoint = ReturnType<typeof affine>[number];

/** Seconds for a table of the largest size; jobs that need more run for hours with this kernel anyway. */
const babiesMax = 2 ** 16;

export class PortableLogarithms {
  readonly reach: number;
  readonly #babies: number;
  /** By y. */
  readonly #logarithms: ReadonlyMap<bigint, number>;
  /** j (2 babies + 1) B', for j from 1 on; extended when needed. */
  readonly #giants: AffinePoint[] = [];
  readonly #unit = times(basePoint, 64);
  #lastGiant = neutral;
  readonly #stride: Point;

  constructor(reach: number) {
    this.reach = reach;
    // As many baby steps as giant steps of a sum cost least for one sum; there are many.
    this.#babies = Math.min(babiesMax, 2 ** Math.max(6, Math.ceil(Math.log2(reach) / 2) + 2));
    const points = [neutral];
    for (let k = 1; k <= this.#babies; k++) points.push(add(points[k - 1], this.#unit));
    this.#logarithms = new Map(affine(points).map(({ y }, k) => [y, k]));
    const last = points[this.#babies];
    this.#stride = add(add(last, last), this.#unit);
  }

  /** The number of giant steps to each side, which depends on the bound only. */
  steps(bound: number): number {
    return Math.ceil(Math.max(0, bound - this.#babies) / (2 * this.#babies + 1));
  }

  /** @returns NaN if there is none within the bound */
  find(point: Point, bound: number): number {
    const [{ x: x1, y: y1 }] = affine([point]);
    const steps = this.steps(bound);
    this.#extend(steps);
    const [numerators, denominators]: [bigint[], bigint[]] = [[y1], [1n]];
    for (const { x: x2, y: y2 } of this.#giants.slice(0, steps)) {
      const [xx, yy] = [(x1 * x2) % p, (y1 * y2) % p];
      const product = (((d * xx) % p) * yy) % p;
      // y of Q + jG, then of Q - jG
      numerators.push(yy + xx, yy - xx);
      denominators.push(1n - product, 1n + product);
    }
    const inverses = inverted(denominators);
    let found = NaN;
    for (const [i, numerator] of numerators.entries()) {
      const baby = this.#logarithms.get(modulo(numerator * inverses[i], p));
      if (baby === undefined) continue;
      // Q + jG = +-k B' for odd i, Q - jG = +-k B' for even i
      const giant = Math.ceil(i / 2) * (i % 2 === 1 ? -1 : 1) * (2 * this.#babies + 1);
      for (const value of [giant + baby, giant - baby])
        if (Math.abs(value) <= bound && this.#isMultiple(value, x1, y1)) found = value;
    }
    return found;
  }

  #isMultiple(value: number, x1: bigint, y1: bigint): boolean {
    const [{ x, y }] = affine([times(this.#unit, Math.abs(value))]);
    return y === y1 && modulo(value < 0 ? -x : x, p) === x1;
  }

  #extend(count: number): void {
    const added: Point[] = [];
    while (this.#giants.length + added.length < count)
      added.push((this.#lastGiant = add(this.#lastGiant, this.#stride)));
    if (added.length > 0) this.#giants.push(...affine(added));
  }
}

/** By doubling and adding. @param count at least 0 */
function times(point: Point, count: number): Point {
  let sum = neutral;
  for (let rest = count, power = point; rest > 0; rest = Math.floor(rest / 2), power = add(power, power))
    if (rest % 2 === 1) sum = add(sum, power);
  return sum;
}
