/**
 * One number per instance and tree instead of its quantised gradients: a fixed linear map of all columns to the
 * integers modulo 2^52. Sums of gradients become sums of keys, exactly. Two different sums have the same key with
 * probability 2^-52.
 */
import { SeededRandom } from "../../base/random.ts";
import type { QuantisedGradients } from "../../base/gradients/quantised-gradients.ts";

const half = 2 ** 26;
export const keyModulus = 2 ** 52;

/** The factor of each column: odd, so that multiplication is injective modulo 2^52. */
export function keyFactors(columnCount: number): Float64Array {
  const random = new SeededRandom("attack/keys");
  return Float64Array.from({ length: columnCount }, () => Math.floor(random.uniform() * keyModulus * 0.5) * 2 + 1);
}

/** The key of a row of sums, or of one instance's values. @param valueAt the integer of a column */
export function combinedKey(factors: Float64Array, valueAt: (column: number) => number): number {
  let key = 0;
  for (let column = 0; column < factors.length; column++) {
    const value = valueAt(column);
    const part = timesModulo(Math.abs(value), factors[column]);
    key = value < 0 ? subtractKeys(key, part) : addKeys(key, part);
  }
  return key;
}

export function instanceKeys({ columns, instanceCount }: QuantisedGradients): Float64Array {
  const factors = keyFactors(columns.length);
  return Float64Array.from({ length: instanceCount }, (_, i) => combinedKey(factors, (column) => columns[column][i]));
}

export function addKeys(a: number, b: number): number {
  return (a + b) % keyModulus;
}

export function subtractKeys(a: number, b: number): number {
  return a >= b ? a - b : a - b + keyModulus;
}

/** In doubles, exact for values up to 2^53. */
function timesModulo(value: number, factor: number): number {
  const low = value % half;
  const high = (value - low) / half;
  const factorLow = factor % half;
  const factorHigh = (factor - factorLow) / half;
  const upper = (((low * factorHigh) % half) + ((high * factorLow) % half)) % half;
  return addKeys((low * factorLow) % keyModulus, upper * half);
}
