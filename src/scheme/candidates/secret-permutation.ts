/**
 * The order in which a passive party's candidates are sent: a secret permutation, fixed for one tree, so that a
 * candidate's position says nothing about its feature or threshold. It is derived from the party's job secret, so that
 * a party which restarts in the middle of a tree continues with the same order.
 *
 * The stream is AES-256-CTR under a key derived by HMAC-SHA-256 from (secret, tree); positions are drawn by
 * Fisher-Yates with rejection, so that every permutation is equally likely.
 */
import { createCipheriv, createHmac } from "node:crypto";
import { assert } from "../../base/assert.ts";
import { shuffled } from "../../base/random.ts";

export const permutationSecretBytes = 32;

/** @returns order[candidate] = position */
export function secretPermutation(secret: Uint8Array, tree: number, count: number): Uint32Array {
  assert(secret.length === permutationSecretBytes, "the permutation secret has 32 bytes");
  const key = createHmac("sha256", secret).update(`tandem/candidate-order/${tree}`).digest();
  return shuffled(count, uniformStream(key));
}

function uniformStream(key: Uint8Array): (bound: number) => number {
  const cipher = createCipheriv("aes-256-ctr", key, new Uint8Array(16));
  const zeros = new Uint8Array(4096);
  let block = cipher.update(zeros);
  let used = 0;
  const next = (): number => {
    if (used + 4 > block.length) {
      block = cipher.update(zeros);
      used = 0;
    }
    const word = block.readUInt32LE(used);
    used += 4;
    return word;
  };
  return (bound) => {
    const limit = 2 ** 32 - (2 ** 32 % bound);
    let word = next();
    while (word >= limit) word = next();
    return word % bound;
  };
}
