/**
 * All-but-one OT: all of 16 keys but one, from four base transfers, 32 times, by the tree of Goldreich, Goldwasser and
 * Micali (GGM). The sender has all keys. The receiver lacks one of each 16, and only the receiver knows which.
 *
 *   sender, base keys key_j0, key_j1                        receiver, base keys key_j,s_j
 *     a tree of four levels from a random root:
 *     a node makes two, AES under it of 0 and of 1
 *     per level the sum of all left and of
 *     all right nodes, under a base key each    -->           reads one of the two
 *
 * On each level the receiver has all nodes but one, and so all children but two. The sum that it reads gives it one of
 * these: the one on side s_j. So what it lacks at the end is the leaf whose sides are 1 - s_j, all the way.
 *
 * A malicious sender that sends other sums makes some of the receiver's keys differ from its own, depending on the
 * receiver's bits. The extension's consistency check (matrix-proof.ts) then fails unless it guesses these bits.
 */
import { createCipheriv } from "node:crypto";
import { TandemError } from "../../base/error.ts";
import type { SecureRandom } from "../../base/random.ts";
import { baseCount, type BaseReceiverKeys, keyBytes, type BaseSenderKeys } from "./base-ot.ts";

/** Bits of a leaf's number. */
export const levels = 4;
export const leafCount = 1 << levels;
export const treeCount = baseCount / levels;
export const sumsBytes = baseCount * 2 * keyBytes;

const children = new Uint8Array(2 * keyBytes);
children[keyBytes] = 1;

function childrenOf(node: Uint8Array): [Uint8Array, Uint8Array] {
  const made = createCipheriv("aes-128-ecb", node, null).setAutoPadding(false).update(children);
  return [Uint8Array.from(made.subarray(0, keyBytes)), Uint8Array.from(made.subarray(keyBytes))];
}

function addTo(target: Uint8Array, bytes: Uint8Array): void {
  for (let i = 0; i < keyBytes; i++) target[i] ^= bytes[i];
}

/** Per tree all leaves, and the sums to send to the receiver. */
export function ggmKeys(
  pairs: BaseSenderKeys,
  random: SecureRandom,
): { readonly leaves: readonly (readonly Uint8Array[])[]; readonly sums: Uint8Array } {
  const sums = new Uint8Array(sumsBytes);
  const leaves = Array.from({ length: treeCount }, (_, tree) => {
    let nodes: Uint8Array[] = [random.fill(new Uint8Array(keyBytes))];
    for (let level = 0; level < levels; level++) {
      const base = tree * levels + level;
      nodes = nodes.flatMap(childrenOf);
      for (const side of [0, 1] as const) {
        const sum = sums.subarray((2 * base + side) * keyBytes, (2 * base + side + 1) * keyBytes);
        sum.set(pairs[base][side]);
        nodes.forEach((node, i) => (i & 1) === side && addTo(sum, node));
      }
    }
    return nodes;
  });
  return { leaves, sums };
}

/** Per tree the missing leaf, and all leaves, the missing one as null. */
export interface PuncturedKeys {
  readonly missing: readonly number[];
  readonly leaves: readonly (readonly (Uint8Array | null)[])[];
}

/** @throws TandemError PROTOCOL_STATE if the sums are not those of all trees */
export function puncturedKeys(
  { choices, keys }: Pick<BaseReceiverKeys, "choices" | "keys">,
  sums: Uint8Array,
): PuncturedKeys {
  if (sums.length !== sumsBytes)
    throw new TandemError("PROTOCOL_STATE", `sums of ${sums.length} bytes; ${sumsBytes} were expected`);
  const missing: number[] = [];
  const leaves = Array.from({ length: treeCount }, (_, tree) => {
    let nodes: (Uint8Array | null)[] = [null];
    let lacked = 0;
    for (let level = 0; level < levels; level++) {
      const base = tree * levels + level;
      const side = (choices[base >>> 3] >>> (base & 7)) & 1;
      nodes = nodes.flatMap((node) => (node === null ? [null, null] : childrenOf(node)));
      const sum = sums.slice((2 * base + side) * keyBytes, (2 * base + side + 1) * keyBytes);
      addTo(sum, keys[base]);
      nodes.forEach((node, i) => node !== null && (i & 1) === side && addTo(sum, node));
      nodes[2 * lacked + side] = sum;
      lacked = 2 * lacked + 1 - side;
    }
    missing.push(lacked);
    return nodes;
  });
  return { missing, leaves };
}

/** D: bit i of the leaf that tree b lacks is the bit of column (levels * b + i). */
export function secretOf(missing: readonly number[]): Uint32Array {
  const secret = new Uint32Array(baseCount / 32);
  missing.forEach((lacked, tree) => {
    secret[(levels * tree) >>> 5] |= lacked << ((levels * tree) & 31);
  });
  return secret;
}
