/**
 * The share of a leaf for each player of its path: Shapley values of the game with v(S) = prod_{j in S} o_j prod_{j not
 * in S} z_j. o_j is 1 if the instance passes all of player j's splits on the path, and z_j is the product of their
 * cover ratios: the fraction of the training rows that passes the splits of an absent player.
 *
 *   phi_i = (o_i - z_i) sum_{S without i} |S|! (d - 1 - |S|)! / d! prod_{j in S} o_j prod_{others but i} z_j
 *         = (o_i - z_i) integral from 0 to 1 of prod_{j != i} ((1 - t) z_j + t o_j) dt
 *
 * since integral of t^k (1 - t)^(d - 1 - k) dt = k! (d - 1 - k)! / d!. The integrand is a polynomial of degree d - 1:
 * ceil(d / 2) points of Gauss-Legendre give its integral exactly. That is O(d^2) for all players, without division or
 * cancellation. This is Lundberg's path-dependent TreeSHAP (arXiv:1802.03888), leaf by leaf.
 */
import { gaussLegendre } from "./gauss-legendre.ts";

export class LeafShares {
  #factors = new Float64Array(16);
  #suffixes = new Float64Array(17);

  /**
   * @param z of each player
   * @param passes o of each player
   * @param into receives a value per player from `first` on
   */
  write(z: ArrayLike<number>, count: number, passes: (j: number) => boolean, into: Float64Array, first: number): void {
    if (this.#factors.length < count) {
      this.#factors = new Float64Array(count);
      this.#suffixes = new Float64Array(count + 1);
    }
    const [factors, suffixes] = [this.#factors, this.#suffixes];
    into.fill(0, first, first + count);
    const { points, weights } = gaussLegendre(Math.ceil(count / 2));
    for (let q = 0; q < points.length; q++) {
      const t = points[q];
      suffixes[count] = 1;
      for (let j = count - 1; j >= 0; j--) {
        factors[j] = (1 - t) * z[j] + (passes(j) ? t : 0);
        suffixes[j] = suffixes[j + 1] * factors[j];
      }
      let prefix = weights[q];
      for (let i = 0; i < count; i++) {
        into[first + i] += prefix * suffixes[i + 1];
        prefix *= factors[i];
      }
    }
    for (let i = 0; i < count; i++) into[first + i] *= (passes(i) ? 1 : 0) - z[i];
  }
}
