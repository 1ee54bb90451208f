/**
 * Nonces of gradients. The nonce of a ciphertext is a function of the job's seed, the serial of its round's plaintexts
 * and its position in the round: not of the process, the attempt, the number of threads and workers, or what was
 * precomputed. So a round that is redone has the same bytes, and an auditor who has the seed can recompute them. A
 * serial is never used for two different plaintexts (protocol/active/plaintext-journal.ts).
 */
import { createHmac } from "node:crypto";
import { derivedRandom } from "../../base/random.ts";
import { writeInteger } from "../../crypto/integers.ts";
import { hashedBelow } from "../../crypto/paillier/hashed-integers.ts";
import type { ExponentPart } from "../../crypto/paillier/kernel.ts";
import type { PublicKey } from "../../crypto/paillier/keys.ts";
import { CiphertextVector } from "../../crypto/paillier/vectors.ts";

/** Textbook nonces r of consecutive positions of a round, as elements modulo n^2. */
export function textbookNonces(
  seed: Uint8Array,
  { n, ciphertextBytes }: PublicKey,
  serial: number,
  first: number,
  count: number,
): CiphertextVector {
  const key = createHmac("sha256", seed).update(`tandem/textbook-nonces/${serial}`).digest();
  const bytes = new Uint8Array(count * ciphertextBytes);
  for (let i = 0; i < count; i++) writeInteger(bytes, ciphertextBytes, i, hashedBelow("textbook", key, first + i, n));
  return new CiphertextVector(bytes, ciphertextBytes);
}

/** Positions whose exponents are drawn together: rejected values make the length of a draw uncertain. */
const blockSize = 256;

/** The exponents of consecutive positions of a round. */
export function gradientExponents(seed: Uint8Array, serial: number, first: number, count: number): ExponentPart[] {
  const key = createHmac("sha256", seed).update(`tandem/gradient-nonces/${serial}`).digest();
  const parts: ExponentPart[] = [];
  const end = first + count;
  for (let position = first; position < end;) {
    const block = Math.floor(position / blockSize);
    const next = Math.min(end, (block + 1) * blockSize);
    const random = derivedRandom(key, block);
    parts.push({ random, drawn: blockSize, first: position - block * blockSize, count: next - position });
    position = next;
  }
  return parts;
}
