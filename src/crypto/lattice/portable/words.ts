/**
 * Words: x in Z_q, rounded to F bits, for hints and answers. With y_l = x (q/p_l)^-1 mod p_l, x/q is the sum of
 * y_l / p_l modulo 1, so a word needs no integer of q's size:
 *
 *   sum over l of (y_l << (E - 50)) + ((y_l m_l) >> 50)  mod 2^E,    m_l = floor(2^(E + 50) / p_l) - 2^E
 *
 * with E = 64 or 128, then rounded half up to its upper F bits. The 2L numbers that are cut off are below 1 each, so a
 * word is less than 1/2 + 4/256 from 2^F x / q.
 */
import { modulo } from "../../integers.ts";
import { invert, multiply, type Prime, primeOf, residueOfInteger } from "./residues.ts";
import { type LatticeSet, wordBytes } from "../parameters/sets.ts";

interface Limb {
  readonly prime: Prime;
  /** (q / p)^-1 mod p. */
  readonly cofactorInverse: number;
  readonly multiplier: bigint;
}

export class Words {
  readonly bits: bigint;
  readonly sizeBytes: number;
  readonly #limbs: readonly Limb[];
  readonly #fractionBits: bigint;
  readonly #rounding: bigint;

  constructor(set: LatticeSet) {
    this.bits = BigInt(set.wordBits);
    this.sizeBytes = wordBytes(set);
    this.#fractionBits = set.wordBits > 64 ? 128n : 64n;
    this.#rounding = 1n << (this.#fractionBits - this.bits - 1n);
    const modulus = set.primes.reduce((product, prime) => product * prime, 1n);
    this.#limbs = set.primes.map((value) => {
      const prime = primeOf(value);
      return {
        prime,
        cofactorInverse: invert(residueOfInteger(modulus / value, prime), prime),
        multiplier: (1n << (this.#fractionBits + 50n)) / value - (1n << this.#fractionBits),
      };
    });
  }

  /** @param residueAt the residue modulo the set's l-th prime */
  of(residueAt: (limb: number) => number): bigint {
    let sum = 0n;
    for (let l = 0; l < this.#limbs.length; l++) {
      const { prime, cofactorInverse, multiplier } = this.#limbs[l];
      const y = BigInt(multiply(residueAt(l), cofactorInverse, prime));
      sum += (y << (this.#fractionBits - 50n)) + ((y * multiplier) >> 50n);
    }
    return BigInt.asUintN(Number(this.bits), (sum + this.#rounding) >> (this.#fractionBits - this.bits));
  }

  write(bytes: Uint8Array, index: number, word: bigint): void {
    let rest = word;
    for (let at = index * this.sizeBytes, left = this.sizeBytes; left > 0; rest >>= 32n) {
      const part = Number(BigInt.asUintN(32, rest));
      for (let i = 0; i < 4 && left > 0; i++, left--) bytes[at++] = part >>> (8 * i);
    }
  }

  read(bytes: Uint8Array, index: number): bigint {
    let word = 0n;
    for (let at = (index + 1) * this.sizeBytes - 1; at >= index * this.sizeBytes; at--)
      word = (word << 8n) | BigInt(bytes[at]);
    return word;
  }

  /** A difference of words as a signed number. */
  signed(value: bigint): bigint {
    return BigInt.asIntN(Number(this.bits), modulo(value, 1n << this.bits));
  }
}
