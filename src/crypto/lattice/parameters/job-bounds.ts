/**
 * The numbers of a job, derived from public facts: set, rows, resolution, noise. All are exact integers, so that both
 * parties compute the same. docs/lattice.md has the argument.
 *
 *   set A   t = 2 (n 2^r + noise) + 1        g and h each in a ciphertext of its own
 *   set B   t = 2^(2S + 1)                   Z = g 2^S + h; S bits hold n 2^r + 2 noise
 *   D = floor(q / t)      V = 16 (n + 2N)      W = floor((D - 2V - 2 rho) / 8), at most 2^76
 *
 * A sum is decrypted from D Z + V_c + f with |V_c| <= V and |f| <= 4W; rho bounds all rounding errors. Since 4W + V +
 * rho <= D/2 the nearest multiple of q/t is always that of Z: there is no failure probability.
 */
import { TandemError } from "../../../base/error.ts";
import { bitLength } from "../../integers.ts";
import type { LatticeShape } from "../kernel.ts";
import type { LatticeSet } from "./sets.ts";

export const resolutionBitsMin = 4;
export const resolutionBitsMax = 24;

/** The fewest bits of sums that are compared on shares (crypto/maximum). */
const comparedBitsMin = 12;

/** Sums stay below 2^50: they become doubles, and the widest t of set B is then 2^101. */
const sumBitsMax = 50;
/** From this width on the Fisher information of the smudging noise is 0.779 / W^2; for a tiny W it would be more. */
export const smudgingWidthMin = 2n ** 20n;
const smudgingWidthMax = 2n ** 76n;

export interface JobSize {
  /** n: the number of summed rows. */
  readonly rowCount: number;
  /** r: |g| <= 2^r and 0 <= h <= 2^r on the grid. */
  readonly resolutionBits: number;
  /** The largest magnitude of the noise that a passive party adds to a sum; default 0. */
  readonly noiseMax?: number;
  /** Sums are masked (shares.ts). Left out: they are not. */
  readonly masksSums?: boolean;
}

export interface JobBounds {
  readonly set: LatticeSet;
  readonly rowCount: number;
  readonly resolutionBits: number;
  readonly noiseMax: number;
  /** Plaintexts are integers modulo t. */
  readonly t: bigint;
  /** Bits of the lower slot; 0 if each column has its own ciphertext. */
  readonly slotBits: number;
  /** Added to a noisy sum of h, so that the lower slot is never negative; 0 if there is no lower slot. */
  readonly slotOffset: number;
  /** D: the multiplier of a plaintext. */
  readonly scale: bigint;
  /** V: bound of a sum of errors. */
  readonly errorMax: bigint;
  /** rho: bound of the rounding errors of words and multipliers together. */
  readonly roundingMax: bigint;
  /** W: smudging noise is the sum of four uniforms on [-W, W). */
  readonly smudgingWidth: bigint;
}

export const latticeModulus = ({ primes }: LatticeSet): bigint =>
  primes.reduce((product, prime) => product * prime, 1n);

/** Bits of q, rounded up to the primes' width. */
const modulusBits = ({ primes }: LatticeSet): number => 50 * primes.length;

/**
 * @throws TandemError USAGE for an impossible size, LAYOUT_OVERFLOW if the smudging noise would be too narrow
 */
export function jobBounds(
  set: LatticeSet,
  { rowCount, resolutionBits, noiseMax = 0, masksSums = false }: JobSize,
): JobBounds {
  checkSize(rowCount, resolutionBits, noiseMax);
  const largestSum = BigInt(rowCount) << BigInt(resolutionBits);
  const noise = BigInt(noiseMax);
  const sideBySide = set.groups === 1;
  const slotBits = sideBySide ? bitLength(largestSum + 2n * noise) : 0;
  if (sideBySide && masksSums) throw new TandemError("USAGE", "hidden sums need set A of the lattice scheme");
  const t = sideBySide
    ? 2n ** BigInt(2 * slotBits + 1)
    : masksSums
      ? 1n << BigInt(shareBitsFor(largestSum))
      : 2n * (largestSum + noise) + 1n;
  const scale = latticeModulus(set) / t;
  // A masked sum is within 2 of a multiple of q / t.
  const errorMax = 16n * BigInt(rowCount + 2 * set.degree) + (masksSums ? 2n : 0n);
  const roundingMax = wordRoundingMax(set) + (sideBySide ? 2n ** BigInt(slotBits + 1) : t / 2n + 1n);
  const room = (scale - 2n * errorMax - 2n * roundingMax) / 8n;
  const smudgingWidth = room < smudgingWidthMax ? room : smudgingWidthMax;
  if (smudgingWidth < smudgingWidthMin) refuseNarrowSmudging(set, rowCount, resolutionBits);
  const slotOffset = sideBySide ? noiseMax : 0;
  const size = { set, rowCount, resolutionBits, noiseMax };
  return { ...size, t, slotBits, slotOffset, scale, errorMax, roundingMax, smudgingWidth };
}

/**
 * The bits of a share: an honest sum, also with lambda, is below a quarter of the ring, so that shares can be widened
 * (crypto/maximum).
 */
function shareBitsFor(largestSum: bigint): number {
  return Math.max(bitLength(largestSum) + 1, comparedBitsMin) + 2;
}

/** The part of the bounds that a kernel needs. */
export function shapeOf({ set, rowCount, t, slotBits }: JobBounds, crsKey: Uint8Array): LatticeShape {
  return { set, rowCount, t, slotBits, crsKey };
}

/** The N + 1 words of a decryption are off by less than 133/256 each, in units of q / 2^F. */
function wordRoundingMax(set: LatticeSet): bigint {
  return 133n * BigInt(set.degree + 1) * 2n ** BigInt(modulusBits(set) - set.wordBits - 8);
}

/** @returns whether sums of such a job stay below 2^50 */
export function sumsFit({ rowCount, resolutionBits, noiseMax = 0 }: JobSize): boolean {
  return (BigInt(rowCount) << BigInt(resolutionBits)) + 2n * BigInt(noiseMax) < 1n << BigInt(sumBitsMax);
}

/** @throws TandemError USAGE */
export function checkResolution(bits: number): void {
  if (Number.isInteger(bits) && bits >= resolutionBitsMin && bits <= resolutionBitsMax) return;
  throw new TandemError(
    "USAGE",
    `with the lattice scheme resolution_bits is between ${resolutionBitsMin} and ${resolutionBitsMax}; got ${bits}`,
  );
}

function checkSize(rowCount: number, resolutionBits: number, noiseMax: number): void {
  if (!Number.isSafeInteger(rowCount) || rowCount < 1) {
    throw new TandemError("USAGE", `the lattice scheme sums at least one row; got ${rowCount}`);
  }
  checkResolution(resolutionBits);
  if (!Number.isSafeInteger(noiseMax) || noiseMax < 0) {
    throw new TandemError("USAGE", "the largest noise of a sum is a whole number of steps of the grid, 0 or more");
  }
  if (sumsFit({ rowCount, resolutionBits, noiseMax })) return;
  throw new TandemError(
    "LAYOUT_OVERFLOW",
    `sums of ${rowCount} rows at resolution_bits ${resolutionBits} with noise of at most ${noiseMax} reach ` +
      `2^${sumBitsMax}. Use a lower --resolution-bits`,
  );
}

function refuseNarrowSmudging({ name }: LatticeSet, rowCount: number, resolutionBits: number): never {
  const other = name === "A" ? ", or set B" : "";
  throw new TandemError(
    "LAYOUT_OVERFLOW",
    `set ${name} has no room to hide errors in sums of ${rowCount} rows at resolution_bits ${resolutionBits}. ` +
      `Use a lower --resolution-bits${other}`,
  );
}
