/**
 * The discrete Gaussian of Canonne, Kamath and Steinke (2020), algorithms 1 to 3: a discrete Laplace number by
 * rejection, kept with the probability that turns it into a Gaussian one. Probabilities exp(-x) are decided by von
 * Neumann's series, so that there is no logarithm, exponential or cosine: their last bits differ between engines, and
 * two parties must draw the same number. The operations on doubles are exact or rounded once, as IEEE 754 specifies.
 */

/** A uniform integer below 2^53. */
export type Draw = () => number;

const drawEnd = 2 ** 53;

/**
 * @param sigma above 0
 * @param max larger values are rejected
 */
export function discreteGaussian(sigma: number, max: number, draw: Draw): number {
  const t = Math.floor(sigma) + 1;
  const variance = sigma * sigma;
  for (;;) {
    const value = discreteLaplace(t, draw);
    const distance = Math.abs(value) - variance / t;
    if (Math.abs(value) <= max && isWithExp((distance * distance) / (2 * variance), draw)) return value;
  }
}

/** The probability of x is proportional to exp(-|x| / t). */
function discreteLaplace(t: number, draw: Draw): number {
  for (;;) {
    const low = below(t, draw);
    if (!isWithExpUpToOne(low / t, draw)) continue;
    let high = 0;
    while (isWithExpUpToOne(1, draw)) high++;
    const magnitude = low + t * high;
    const isNegative = draw() % 2 === 1;
    if (magnitude === 0 && isNegative) continue; // zero has one sign only
    return isNegative ? -magnitude : magnitude;
  }
}

/** A uniform integer below `bound`. */
function below(bound: number, draw: Draw): number {
  const end = drawEnd - (drawEnd % bound);
  let drawn = draw();
  while (drawn >= end) drawn = draw();
  return drawn % bound;
}

/** True with probability exp(-x). */
function isWithExp(x: number, draw: Draw): boolean {
  let rest = x;
  for (; rest > 1; rest--) if (!isWithExpUpToOne(1, draw)) return false;
  return isWithExpUpToOne(rest, draw);
}

/** The same for x up to 1: true if the run of uniform numbers below x, x/2, x/3, ... has even length. */
function isWithExpUpToOne(x: number, draw: Draw): boolean {
  let k = 1;
  while (draw() / drawEnd < x / k) k++;
  return k % 2 === 1;
}
