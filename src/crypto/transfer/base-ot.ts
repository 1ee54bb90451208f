/**
 * 128 base oblivious transfers of random keys, which an OT extension expands to any number (iknp-ot.ts,
 * soft-spoken-ot.ts). The roles swap there: the receiver of base transfers is the sender of the extension. Chou and
 * Orlandi's "simplest" OT (2015) over edwards25519:
 *
 *   sender                                                   receiver, with a bit c for each i
 *     draws a, sends A = aG              -- key -->
 *                                        <-- points --        draws b_i, sends B_i = b_i G + c_i A
 *     key_i0 = H(i, 0, a B_i)                                 key_i,c = H(i, c, b_i A)
 *     key_i1 = H(i, 1, a (B_i - A))
 *
 * H is SHA-256 over a context, i, the choice, A, B_i and the u-coordinate of the secret point. A is drawn for one
 * session, so it identifies the session too.
 *
 * A malicious sender learns nothing about c: the receiver checks that A is in the prime-order subgroup, and b_i is
 * uniform modulo its order, so B_i is uniform in the subgroup whatever c is.
 *
 * A malicious receiver has at most one key of each pair, as long as computational Diffie-Hellman is hard and H behaves
 * like a random function. To compute both it needs the u-coordinates of aB_i and a(B_i - A). These points are known
 * from u up to their sign, and the difference of the right two is aA = a^2 G, the Diffie-Hellman value of A with
 * itself. A B_i outside the subgroup gains nothing: X25519 multiplies with a multiple of the cofactor 8, which maps
 * B_i and its component in the subgroup to the same point. Since the choice is hashed, the keys of a pair differ even
 * where the points agree up to their sign, as for B_i = A/2.
 *
 * It is not proven secure under universal composition: a party may send points without knowing their logarithms. A
 * quantum computer breaks it, from recorded messages too.
 */
import { createHash, diffieHellman, type KeyObject } from "node:crypto";
import { TandemError } from "../../base/error.ts";
import { osRandom, type SecureRandom } from "../../base/random.ts";
import { isSliceOver, nextSlice } from "../../base/scheduling/event-loop-slice.ts";
import { readInteger } from "../integers.ts";
import { newX25519Key, publicBytesOf, publicKeyFrom } from "../x25519-key.ts";
import {
  add,
  basePoint,
  decoded,
  encodedAll,
  fromMontgomery,
  groupOrder,
  hasPrimeOrder,
  isSmallOrder,
  montgomeryBytes,
  Multiples,
  negative,
  type Point,
  pointBytes,
} from "../edwards25519.ts";

/** Base transfers: the security parameter of the extension. */
export const baseCount = 128;
export const keyBytes = 16;
export const choicesBytes = baseCount * pointBytes;

let multiplesOfBase: Multiples | null = null;

/** An X25519 key pair of this party. */
export interface AgreementKey {
  readonly publicKey: Uint8Array;
  readonly secret: KeyObject;
}

export function newAgreementKey(random: SecureRandom = osRandom): AgreementKey {
  const secret = newX25519Key(random);
  return { secret, publicKey: publicBytesOf(secret) };
}

/** @throws TandemError PROTOCOL_STATE if the other's key is not a point of the curve, or of small order */
export function agreedKey({ secret }: AgreementKey, theirs: Uint8Array, context: string): Uint8Array {
  checkPoints(theirs, 1);
  fromMontgomery(theirs);
  return hashed(context, 0, [sharedSecret(secret, theirs)]);
}

/** Both keys of each transfer. */
export type BaseSenderKeys = readonly (readonly [Uint8Array, Uint8Array])[];

/**
 * @throws TandemError PROTOCOL_STATE if a point of the receiver is not on the curve, or of small order
 */
export async function baseSenderKeys(key: AgreementKey, points: Uint8Array, context: string): Promise<BaseSenderKeys> {
  checkPoints(points, baseCount);
  const minusOwn = negative(fromMontgomery(key.publicKey));
  const chosen: Point[] = [];
  const shifted: Point[] = [];
  for (let i = 0; i < baseCount; i++) {
    chosen.push(decoded(pointAt(points, i)));
    shifted.push(add(chosen[i], minusOwn));
    if (isSmallOrder(shifted[i]))
      throw new TandemError("PROTOCOL_STATE", "a point of a base transfer reveals its choice");
    if (isSliceOver()) await nextSlice();
  }
  const secretsOf = [montgomeryBytes(chosen), montgomeryBytes(shifted)];
  const pairs: [Uint8Array, Uint8Array][] = [];
  for (let i = 0; i < baseCount; i++) {
    const keyOf = (choice: 0 | 1): Uint8Array => {
      const secret = sharedSecret(key.secret, pointAt(secretsOf[choice], i));
      return hashed(`${context}/${choice}`, i, [key.publicKey, pointAt(points, i), secret]);
    };
    pairs.push([keyOf(0), keyOf(1)]);
    if (isSliceOver()) await nextSlice();
  }
  return pairs;
}

/** One key of each transfer, and the points to send. */
export interface BaseReceiverKeys {
  readonly points: Uint8Array;
  /** Bit i, lowest first, is the choice of transfer i. */
  readonly choices: Uint8Array;
  readonly keys: readonly Uint8Array[];
}

/**
 * With random choices.
 * @throws TandemError PROTOCOL_STATE if the sender's key is not a point of the prime-order subgroup
 */
export async function baseReceiverKeys(
  theirs: Uint8Array,
  context: string,
  random: SecureRandom,
): Promise<BaseReceiverKeys> {
  checkPoints(theirs, 1);
  multiplesOfBase ??= new Multiples(basePoint);
  const sender = fromMontgomery(theirs);
  const multiplesOfSender = new Multiples(sender);
  if (!hasPrimeOrder(multiplesOfSender))
    throw new TandemError("PROTOCOL_STATE", "a key of base transfers is not in the prime-order subgroup");
  const choices = random.fill(new Uint8Array(baseCount / 8));
  const chosen: Point[] = [];
  const shared: Point[] = [];
  for (let i = 0; i < baseCount; i++) {
    // 512 bits: modulo the order they are within 2^-259 of uniform.
    const scalar = readInteger(random.fill(new Uint8Array(64)), 64, 0) % groupOrder;
    const plain = multiplesOfBase.by(scalar);
    const both = [plain, add(plain, sender)];
    chosen.push(both[choiceAt(choices, i)]);
    shared.push(multiplesOfSender.by(scalar));
    if (isSliceOver()) await nextSlice();
  }
  const points = encodedAll(chosen);
  const secrets = montgomeryBytes(shared);
  const keys = chosen.map((_, i) => {
    const sent = [theirs, pointAt(points, i), pointAt(secrets, i)];
    return hashed(`${context}/${choiceAt(choices, i)}`, i, sent);
  });
  return { points, choices, keys };
}

function choiceAt(choices: Uint8Array, i: number): number {
  return (choices[i >>> 3] >>> (i & 7)) & 1;
}

function pointAt(points: Uint8Array, i: number): Uint8Array {
  return points.subarray(i * pointBytes, (i + 1) * pointBytes);
}

function sharedSecret(privateKey: KeyObject, u: Uint8Array): Uint8Array {
  return diffieHellman({ privateKey, publicKey: publicKeyFrom(u) });
}

function hashed(context: string, index: number, parts: readonly Uint8Array[]): Uint8Array {
  const hash = createHash("sha256").update(`tandem/transfer/v2/${index}/${context.length}/${context}/`);
  for (const part of parts) hash.update(part); // all of one length
  return new Uint8Array(hash.digest().subarray(0, keyBytes));
}

function checkPoints(bytes: Uint8Array, count: number): void {
  if (bytes.length !== count * pointBytes)
    throw new TandemError("PROTOCOL_STATE", `points of ${bytes.length} bytes; ${count * pointBytes} were expected`);
}
