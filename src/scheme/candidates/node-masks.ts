/**
 * The masks of one node's sums, where sums are hidden: uniform numbers, which only the passive party knows. Its share
 * of a sum is minus the mask.
 *
 * They follow from a secret of the job and from everything that they mask, so that a node which is requested again gets
 * the same bytes, and other gradients or members never get the same masks: the difference of two answers would be a
 * difference of sums.
 */
import { createCipheriv, createHmac } from "node:crypto";

/** A number of this many bytes per candidate and slot: wider than any mask. */
export const shareBytes = 16;
const wordsPerShare = shareBytes / 4;

/** What is masked. */
export interface MaskedNode {
  readonly tree: number;
  readonly node: number;
  /** SHA-256 of the gradients and members that are summed. */
  readonly digest: Uint8Array;
}

export class NodeMasks {
  readonly #stream: Buffer;
  readonly #slotCount: number;

  /** @param secret 32 bytes, known to this party only */
  constructor(secret: Uint8Array, { tree, node, digest }: MaskedNode, candidateCount: number, slotCount: number) {
    const key = createHmac("sha256", secret).update(`tandem/masks/${tree}/${node}/`).update(digest).digest();
    const cipher = createCipheriv("aes-256-ctr", key, new Uint8Array(16));
    this.#stream = cipher.update(new Uint8Array(candidateCount * slotCount * shareBytes));
    this.#slotCount = slotCount;
  }

  /** The mask of a sum, below 2^bits. */
  of(candidate: number, slot: number, bits: number): bigint {
    const at = (candidate * this.#slotCount + slot) * shareBytes;
    const [low, high] = [this.#stream.readBigUInt64LE(at), this.#stream.readBigUInt64LE(at + 8)];
    return BigInt.asUintN(bits, (high << 64n) | low);
  }

  /** Minus the masks of one slot, candidate after candidate. */
  shares(slot: number, bits: number): Uint32Array {
    const count = this.#stream.length / shareBytes / this.#slotCount;
    const shares = newShares(count);
    for (let candidate = 0; candidate < count; candidate++)
      setShare(shares, candidate, -this.of(candidate, slot, bits));
    return shares;
  }
}

/** Shares of candidates: integers modulo 2^128, in four words each, the lowest first. */
export function newShares(count: number): Uint32Array {
  return new Uint32Array(count * wordsPerShare);
}

export function setShare(shares: Uint32Array, index: number, value: bigint): void {
  const at = index * wordsPerShare;
  for (let word = 0, rest = BigInt.asUintN(8 * shareBytes, value); word < wordsPerShare; word++, rest >>= 32n)
    shares[at + word] = Number(rest & 0xffffffffn);
}

/** The shares of a node's sibling: those of their parent minus those of the node. */
export function siblingShares(parent: Uint32Array, node: Uint32Array): Uint32Array {
  const sibling = new Uint32Array(parent.length);
  for (let at = 0; at < parent.length; at += wordsPerShare) {
    let borrow = 0;
    for (let word = at; word < at + wordsPerShare; word++) {
      const difference = parent[word] - node[word] - borrow;
      borrow = difference < 0 ? 1 : 0;
      sibling[word] = difference;
    }
  }
  return sibling;
}

/** The same shares with a number added to each: one party's own change of what is shared. */
export function withAdded(shares: Uint32Array, added: number): Uint32Array {
  const sums = new Uint32Array(shares.length);
  for (let at = 0; at < shares.length; at += wordsPerShare) {
    let carry = added;
    for (let word = at; word < at + wordsPerShare; word++) {
      const sum = shares[word] + carry;
      sums[word] = sum;
      carry = Math.floor(sum / 2 ** 32);
    }
  }
  return sums;
}
