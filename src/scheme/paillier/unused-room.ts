/**
 * Random bits for the parts of a packed plaintext that hold no sum: all bits above its last field, and the fields of
 * empty candidates. An honest active party ignores both. A malicious one that encrypts wider numbers than gradients
 * would read the overflow of the sums there: one bit for each instance that it marked.
 *
 * Within a round the same ciphertexts of sums get the same bits at the same index of a node with the same members, so
 * repeated requests reveal nothing new. Elsewhere they get different bits: equal bits would reveal that the same
 * instances were summed, which noise hides.
 *
 * The bits above the last field are a number R below floor(n / 2^h), h being the field's end. So an honest sum plus R
 * 2^h stays below n. Of the overflow, at most whether it passed n is visible: about one bit per ciphertext, instead of
 * all bits of n above h.
 */
import { createHmac } from "node:crypto";
import { osRandom } from "../../base/random.ts";
import { writeInteger } from "../../crypto/integers.ts";
import { hashedBelow } from "../../crypto/paillier/hashed-integers.ts";
import type { PublicKey } from "../../crypto/paillier/keys.ts";

const secretBytes = 32;

/** The random bits of one round. */
export class UnusedRoom {
  readonly #secret = osRandom.fill(new Uint8Array(secretBytes));

  /** @param positions the node's members, ascending */
  ofNode(positions: Uint32Array): NodeRoom {
    const bytes = new Uint8Array(positions.buffer, positions.byteOffset, positions.byteLength);
    return new NodeRoom(createHmac("sha256", this.#secret).update(bytes).digest());
  }
}

/** A node's sums that are packed into one ciphertext. */
export interface PackedSums {
  /** Canonical, before they are packed. */
  readonly ciphertexts: Uint8Array;
  /** Index of its first field among all fields of the node. */
  readonly place: number;
  /** Per field whether it is an empty sum. */
  readonly isEmpty: readonly boolean[];
  readonly strideBits: number;
}

export class NodeRoom {
  readonly #secret: Uint8Array;

  /** @param secret known to this party only, and different for each node */
  constructor(secret: Uint8Array) {
    this.#secret = secret;
  }

  /** @param plaintext the output, as wide as the key's */
  fill(plaintext: Uint8Array, { n, plaintextBytes }: PublicKey, sums: PackedSums): void {
    const { ciphertexts, place, isEmpty, strideBits } = sums;
    const seed = createHmac("sha256", this.#secret).update(`${place}/`).update(ciphertexts).digest();
    const fieldsEnd = BigInt(isEmpty.length * strideBits);
    let bits = hashedBelow("unused-room/above", seed, 0, n >> fieldsEnd) << fieldsEnd;
    if (isEmpty.includes(true))
      bits |= hashedBelow("unused-room/fields", seed, 0, 1n << fieldsEnd) & maskOf(isEmpty, strideBits);
    writeInteger(plaintext, plaintextBytes, 0, bits);
  }
}

/** Ones in the empty fields. */
function maskOf(isEmpty: readonly boolean[], strideBits: number): bigint {
  const ones = (1n << BigInt(strideBits)) - 1n;
  return isEmpty.reduce((mask, empty, k) => (empty ? mask | (ones << BigInt(k * strideBits)) : mask), 0n);
}
