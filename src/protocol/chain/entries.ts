/**
 * Digests of one tree's messages between two parties, by kind and node. Their order does not depend on time, so that
 * both parties have the same list.
 */
import { TandemError } from "../../base/error.ts";
import { entryFacts, type EntryKind } from "../../messages/table.ts";

export interface Entry {
  readonly kind: EntryKind;
  /** 0 for messages that are not about one node. */
  readonly node: number;
  readonly digest: Uint8Array;
}

export const digestBytes = 32;
const entryBytes = 1 + 4 + digestBytes;

const kindByTag: ReadonlyMap<number, EntryKind> = new Map(
  (Object.keys(entryFacts) as EntryKind[]).map((kind) => [entryFacts[kind].tag, kind]),
);

/** The entries of the current tree. */
export class TreeEntries {
  readonly #entries = new Map<string, { readonly kind: EntryKind; readonly node: number; digests: Uint8Array[] }>();

  /**
   * A repeated request gets the same answer; ciphertexts that are encrypted again have other bytes.
   * @throws TandemError PROTOCOL_STATE for a different answer
   */
  note(kind: EntryKind, node: number, digest: Uint8Array): void {
    const key = `${kind}/${node}`;
    const known = this.#entries.get(key);
    if (known === undefined) this.#entries.set(key, { kind, node, digests: [digest] });
    else if (known.digests.some((other) => isSame(other, digest))) return;
    else if (entryFacts[kind].isFresh === true) known.digests.push(digest);
    else throw new TandemError("PROTOCOL_STATE", `${inWords({ kind, node })}: conflicting duplicate message`);
  }

  has(kind: EntryKind, node: number): boolean {
    return this.#entries.has(`${kind}/${node}`);
  }

  /** The buffer that the tree's link covers. */
  encoded(): Uint8Array {
    return encodeEntries(this.#sorted().map(({ kind, node, digests }) => ({ kind, node, digest: digests[0] })));
  }

  /**
   * Checks that the other party has seen the same; of repeated encryptions, any one that was sent.
   * @throws TandemError PROTOCOL_STATE naming the first difference
   */
  check(encoded: Uint8Array): void {
    const theirs = decodeEntries(encoded);
    const ours = this.#sorted();
    for (let i = 0; i < Math.max(theirs.length, ours.length); i++) {
      const [our, their] = [ours[i], theirs[i]];
      const fits =
        our !== undefined &&
        their !== undefined &&
        our.kind === their.kind &&
        our.node === their.node &&
        our.digests.some((digest) => isSame(digest, their.digest));
      if (!fits) {
        // One party may have an entry that the other lacks: report the first in order.
        const [first] = [our, their].filter((entry) => entry !== undefined).sort(byPlace);
        throw new TandemError("PROTOCOL_STATE", `the two sides differ about ${inWords(first)} of this tree`);
      }
    }
  }

  #sorted() {
    return [...this.#entries.values()].sort(byPlace);
  }
}

type Named = Pick<Entry, "kind" | "node">;

function byPlace(a: Named, b: Named): number {
  return a.node - b.node || entryFacts[a.kind].tag - entryFacts[b.kind].tag;
}

export function encodeEntries(entries: readonly Entry[]): Uint8Array {
  const bytes = Buffer.alloc(entries.length * entryBytes);
  entries.forEach(({ kind, node, digest }, i) => {
    bytes.writeUInt8(entryFacts[kind].tag, i * entryBytes);
    bytes.writeUInt32LE(node, i * entryBytes + 1);
    bytes.set(digest, i * entryBytes + 5);
  });
  return new Uint8Array(bytes);
}

/** @throws TandemError PROTOCOL_STATE */
export function decodeEntries(encoded: Uint8Array): Entry[] {
  const bytes = Buffer.from(encoded.buffer, encoded.byteOffset, encoded.byteLength);
  if (bytes.length % entryBytes !== 0) throw new TandemError("PROTOCOL_STATE", "the list of digests is truncated");
  return Array.from({ length: bytes.length / entryBytes }, (_, i) => {
    const kind = kindByTag.get(bytes.readUInt8(i * entryBytes));
    if (kind === undefined) throw new TandemError("PROTOCOL_STATE", "unknown digest entry kind");
    const digest = Uint8Array.from(bytes.subarray(i * entryBytes + 5, (i + 1) * entryBytes));
    return { kind, node: bytes.readUInt32LE(i * entryBytes + 1), digest };
  });
}

/** "the sums of node 3". */
export function inWords({ kind, node }: Named): string {
  const { words, about } = entryFacts[kind];
  return about === "node" ? `${words} node ${node}` : words;
}

export function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}

/** By kind and node. */
export function keyed(entries: readonly Entry[]): Map<string, Entry> {
  return new Map(entries.map((entry) => [entryKey(entry), entry]));
}

export function entryKey({ kind, node }: Named): string {
  return `${kind}/${node}`;
}
