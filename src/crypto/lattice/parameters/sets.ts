/**
 * The parameter sets of the lattice scheme, all in one table. Security is what the lattice-estimator (commit 27a581b,
 * default cost model, MATZOV; unlimited samples, uniform ternary secret, centred binomial errors of 16 pairs) says: the
 * least of usvp, bdd and dual_hybrid.
 */

/** The largest primes below 2^50 that are 1 modulo 2^14. */
const primes = [2n ** 50n - 16383n, 2n ** 50n - 212991n, 2n ** 50n - 1097727n] as const;

export interface LatticeSet {
  readonly name: "A" | "B";
  /** N: coefficients of a ring element, rows of a block. */
  readonly degree: number;
  /** The modulus q is their product. */
  readonly primes: readonly bigint[];
  /** Bits by the estimator; classical core-SVP gives less. */
  readonly security: number;
  /** Ciphertexts of a row: 2 if g and h have their own, 1 if they share one. */
  readonly groups: 1 | 2;
  readonly recordBytes: number;
  /** F: bits of a word of a hint or an answer. */
  readonly wordBits: number;
}

export const latticeSets: Readonly<Record<"A" | "B", LatticeSet>> = {
  A: {
    name: "A",
    degree: 4096,
    primes: primes.slice(0, 2),
    security: 136.9,
    groups: 2,
    recordBytes: 25,
    wordBits: 56,
  },
  B: { name: "B", degree: 8192, primes, security: 188.6, groups: 1, recordBytes: 19, wordBits: 104 },
};

export const wordBytes = ({ wordBits }: LatticeSet): number => wordBits / 8;

/** Residues of a record: a lane per group and prime. */
export const laneCount = ({ groups, primes: limbs }: LatticeSet): number => groups * limbs.length;
