/**
 * Random bits for what a packed plaintext has besides sums: all above its last field, and the fields of candidates over
 * nobody. An honest active party looks at neither. One that encrypts wider numbers than gradients would read there what
 * ran over from the sums: a bit for each person that it marked.
 *
 * Within a round the same ciphertext of sums gets the same bits at the same place of a node of the same people: asking
 * again tells nothing new. Elsewhere it gets others: equal bits would tell that the same people were summed, which
 * noise hides.
 *
 * The bits above the last field are a number R below floor(n / 2^h), h being the field's end. So an honest sum plus
 * R 2^h stays below n. Of what runs over, at most whether it passed n shows: about one bit of a ciphertext, where there
 * were all that n has more than h.
 */
import { createHmac } from "node:crypto";
import { osRandom } from "../../base/random.ts";
import { writeInteger } from "../../crypto/integers.ts";
import { hashedBelow } from "../../crypto/paillier/hashed-integers.ts";
import type { PublicKey } from "../../crypto/paillier/keys.ts";

const secretBytes = 32;

/** Of one round. */
export class UnusedRoom {
  readonly #secret = osRandom.fill(new Uint8Array(secretBytes));

  /** @param positions the node's people, ascending */
  ofNode(positions: Uint32Array): NodeRoom {
    const people = new Uint8Array(positions.buffer, positions.byteOffset, positions.byteLength);
    return new NodeRoom(createHmac("sha256", this.#secret).update(people).digest());
  }
}

/** A packed ciphertext of a node's sums. */
export interface PackedSums {
  /** Canonical, before it is re-randomised. */
  readonly ciphertext: Uint8Array;
  /** Of its first field among all of the node. */
  readonly place: number;
  /** Per field whether nobody is in it. */
  readonly isEmpty: readonly boolean[];
  readonly strideBits: number;
}

export class NodeRoom {
  readonly #secret: Uint8Array;

  /** @param secret that nobody else has, and no other node */
  constructor(secret: Uint8Array) {
    this.#secret = secret;
  }

  /** @param plaintext to be written, as wide as the key's */
  fill(plaintext: Uint8Array, { n, plaintextBytes }: PublicKey, sums: PackedSums): void {
    const { ciphertext, place, isEmpty, strideBits } = sums;
    const seed = createHmac("sha256", this.#secret).update(`${place}/`).update(ciphertext).digest();
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
