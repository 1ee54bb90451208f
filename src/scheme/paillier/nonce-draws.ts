/**
 * Nonces of gradients that can be drawn again, so that an auditor can make the very ciphertexts once more. Every draw
 * has a number; which draws the ciphertexts of a round took is its recipe. The secret is new in every process, so that
 * no nonce is ever used twice, also where a round is redone.
 */
import { assert } from "../../base/assert.ts";
import { derivedRandom, derivedSecretBytes, osRandom, type SecureRandom } from "../../base/random.ts";
import type { ExponentPart } from "../../crypto/paillier/kernel.ts";
import type { GradientRecipe } from "../scheme.ts";

/** Draw, how many were drawn, the first that was used, how many were used. */
type Part = readonly [draw: number, drawn: number, first: number, count: number];

export class NonceDraws {
  readonly #secret = osRandom.fill(new Uint8Array(derivedSecretBytes));
  #draws = 0;
  /** Made ahead and not used yet, in order. */
  #ahead: Part[] = [];
  #chunks: Part[][] = [];

  /** A new round. */
  begin(): void {
    this.#chunks = [];
  }

  /** For a chunk that is encrypted at once. */
  now(count: number): SecureRandom {
    const draw = this.#draws++;
    this.#chunks.push([[draw, count, 0, count]]);
    return derivedRandom(this.#secret, draw);
  }

  /** For obfuscators that are made ahead. */
  ahead(count: number): SecureRandom {
    const draw = this.#draws++;
    this.#ahead.push([draw, count, 0, count]);
    return derivedRandom(this.#secret, draw);
  }

  /** A chunk takes so many of those made ahead: the oldest first. */
  take(count: number): void {
    const parts: Part[] = [];
    let wanted = count;
    while (wanted > 0) {
      const next = this.#ahead.shift();
      assert(next !== undefined, "what is taken was made ahead");
      const [draw, drawn, first, left] = next;
      const used = Math.min(left, wanted);
      parts.push([draw, drawn, first, used]);
      if (used < left) this.#ahead.unshift([draw, drawn, first + used, left - used]);
      wanted -= used;
    }
    this.#chunks.push(parts);
  }

  get recipe(): GradientRecipe {
    return { secret: this.#secret, chunks: this.#chunks };
  }
}

/** The exponents of one chunk. */
export function exponentParts({ secret }: GradientRecipe, chunk: readonly (readonly number[])[]): ExponentPart[] {
  return chunk.map(([draw, drawn, first, count]) => ({ random: derivedRandom(secret, draw), drawn, first, count }));
}
