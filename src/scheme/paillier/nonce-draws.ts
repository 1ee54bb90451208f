/**
 * Reproducible nonces of gradients, so that an auditor can recompute the exact ciphertexts. Draws are numbered; the
 * draws that the ciphertexts of a round used are its recipe. The secret is new in every process, so no nonce is ever
 * used twice, even if a round is repeated.
 */
import { assert } from "../../base/assert.ts";
import { derivedRandom, derivedSecretBytes, osRandom, type SecureRandom } from "../../base/random.ts";
import type { ExponentPart } from "../../crypto/paillier/kernel.ts";
import type { GradientRecipe } from "../scheme.ts";

/** Index of the draw, how many were drawn, the first that was used, how many were used. */
type Part = readonly [draw: number, drawn: number, first: number, count: number];

export class NonceDraws {
  readonly #secret = osRandom.fill(new Uint8Array(derivedSecretBytes));
  #draws = 0;
  /** Precomputed and not yet used, in order. */
  #ahead: Part[] = [];
  #chunks: Part[][] = [];

  /** A new round. */
  begin(): void {
    this.#chunks = [];
  }

  /** For a chunk that is encrypted immediately. */
  now(count: number): SecureRandom {
    const draw = this.#draws++;
    this.#chunks.push([[draw, count, 0, count]]);
    return derivedRandom(this.#secret, draw);
  }

  /** For precomputed obfuscators. */
  ahead(count: number): SecureRandom {
    const draw = this.#draws++;
    this.#ahead.push([draw, count, 0, count]);
    return derivedRandom(this.#secret, draw);
  }

  /** A chunk uses this many of the precomputed obfuscators, the oldest first. */
  take(count: number): void {
    const parts: Part[] = [];
    let wanted = count;
    while (wanted > 0) {
      const next = this.#ahead.shift();
      assert(next !== undefined, "used obfuscators were precomputed");
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
