/**
 * What is left of a batch when all of its candidates are compared: each party's shares of the winners. The active party
 * seals its own, and the passive party keeps both before it opens anything. After a lost connection the batch is not
 * compared again: the passive party repeats what it has kept.
 */
import { createCipheriv, createDecipheriv } from "node:crypto";
import { TandemError } from "../../base/error.ts";
import type { SecureRandom } from "../../base/random.ts";
import type { MaximumTerms, NodeMaximum, Residues } from "./maximum.ts";
import { BitReader, BitWriter, packedBytes } from "./packed-bits.ts";
import { partsOf } from "./plan.ts";
import { placeBits, type Winners } from "./tournament.ts";
import { refused } from "./transfers.ts";
import { integerAt, wordMasks, wordsEach } from "./wide-residues.ts";

/** Wider than any place. */
const placeWidth = 16;
const nonceBytes = 12;
const tagBytes = 16;

/** Bytes of the shares of all winners' sums: what the passive party opens. */
export function openedBytes({ bits, nodes }: MaximumTerms): number {
  return packedBytes(nodes.length * (2 * bits + 1));
}

function ownBytes({ bits, nodes }: MaximumTerms): number {
  return packedBytes(nodes.length * (2 * bits + 1 + placeWidth));
}

export function sealedBytes(terms: MaximumTerms): number {
  return nonceBytes + ownBytes(terms) + tagBytes;
}

/** The passive party's shares of the winners' sums. */
export function openedShares({ gradients, hessians }: Winners, terms: MaximumTerms): Uint8Array {
  const { bits, nodes } = terms;
  const writer = new BitWriter(8 * openedBytes(terms));
  for (let node = 0; node < nodes.length; node++) {
    put(writer, gradients, node, bits + 1);
    put(writer, hessians, node, bits);
  }
  return writer.bytes();
}

/** The active party's shares of the winners, with those of their places. */
export function ownShares({ gradients, hessians, places }: Winners, terms: MaximumTerms): Uint8Array {
  const { bits, nodes } = terms;
  const writer = new BitWriter(8 * ownBytes(terms));
  for (let node = 0; node < nodes.length; node++) {
    put(writer, gradients, node, bits + 1);
    put(writer, hessians, node, bits);
    put(writer, places, node, placeWidth);
  }
  return writer.bytes();
}

/** Per node its winner. @param own of the active party @param opened by the passive party */
export function winnersFrom(
  { bits, nodes }: MaximumTerms,
  own: Uint8Array,
  opened: Uint8Array,
): (NodeMaximum | undefined)[] {
  const [mine, theirs] = [new BitReader(own), new BitReader(opened)];
  const sum = (width: number): bigint => BigInt.asUintN(width, take(mine, width) + take(theirs, width));
  return nodes.map(() => {
    const [gradient, hessian] = [sum(bits + 1), sum(bits)];
    const placeShare = mine.take(placeWidth);
    if (hessian === 0n) return undefined; // the rival's: that of a candidate which is allowed is positive
    return { gradient: BigInt.asIntN(bits + 1, gradient), hessian, placeShare };
  });
}

/** The passive party's share of each winner's place. */
export function placesOf({ places }: Winners, { nodes }: MaximumTerms): number[] {
  return nodes.map((_, node) => Number(integerAt(places, node)));
}

/**
 * The place of a node's winner among its candidates, from 0.
 * @param own the passive party's share of each winner's place
 * @throws TandemError PROTOCOL_STATE for a share that makes no place
 */
export function placeFrom(
  { nodes }: Pick<MaximumTerms, "nodes">,
  own: readonly number[],
  node: number,
  share: number,
  candidatesAtOnce?: number,
): number {
  const part = partsOf(nodes, candidatesAtOnce).find(({ from, to }) => from <= node && node < to);
  if (part === undefined) throw refused("a winner's place is asked of a node that is not in the batch");
  const modulus = 2 ** placeBits(nodes.slice(part.from, part.to).map(({ candidates }) => candidates));
  const isShare = Number.isSafeInteger(share) && share >= 0 && share < modulus;
  const place = (own[node] + share) % modulus;
  if (isShare && place < nodes[node].candidates) return place;
  throw refused("a share of a winner's place makes no place");
}

/** A key of the active party, for one job, and what its shares belong to. */
export interface Seal {
  readonly key: Uint8Array;
  readonly context: Uint8Array;
}

export function sealed(own: Uint8Array, { key, context }: Seal, random: SecureRandom): Uint8Array {
  const nonce = random.fill(new Uint8Array(nonceBytes));
  const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(context);
  return Buffer.concat([nonce, cipher.update(own), cipher.final(), cipher.getAuthTag()]);
}

/**
 * The winners of a batch that was opened in an earlier attempt.
 * @param kept what was sealed, then what was opened
 * @throws TandemError PROTOCOL_STATE if this party has not sealed it for this batch
 */
export function winnersAgain(
  terms: MaximumTerms,
  kept: Uint8Array,
  { key, context }: Seal,
): (NodeMaximum | undefined)[] {
  const length = sealedBytes(terms);
  if (kept.length !== length + openedBytes(terms)) throw refused("a repeated comparison of another length");
  const decipher = createDecipheriv("aes-256-gcm", key, kept.subarray(0, nonceBytes)).setAAD(context);
  decipher.setAuthTag(kept.subarray(length - tagBytes, length));
  try {
    const own = Buffer.concat([decipher.update(kept.subarray(nonceBytes, length - tagBytes)), decipher.final()]);
    return winnersFrom(terms, own, kept.subarray(length));
  } catch (cause) {
    if (cause instanceof TandemError) throw cause;
    throw refused("a repeated comparison that this party has not made");
  }
}

function put(writer: BitWriter, values: Residues, index: number, width: number): void {
  const masks = wordMasks(width);
  for (let w = 0; w < wordsEach; w++)
    writer.put((values[wordsEach * index + w] & masks[w]) >>> 0, 32 - Math.clz32(masks[w]));
}

function take(reader: BitReader, width: number): bigint {
  const low = BigInt(reader.take(Math.min(width, 32)));
  return width > 32 ? low + (BigInt(reader.take(width - 32)) << 32n) : low;
}
