/**
 * What is kept of one tree's messages between two parties: a digest of each, by kind and node. Their order does not
 * depend on when they were sent, so that both sides have the same list.
 */
import { TandemError } from "../../base/error.ts";
import { entryFacts, type EntryKind } from "../../messages/table.ts";

export interface Entry {
  readonly kind: EntryKind;
  /** 0 of what is not about one node. */
  readonly node: number;
  readonly digest: Uint8Array;
}

export const digestBytes = 32;
const entryBytes = 1 + 4 + digestBytes;

const kindByTag: ReadonlyMap<number, EntryKind> = new Map(
  (Object.keys(entryFacts) as EntryKind[]).map((kind) => [entryFacts[kind].tag, kind]),
);

/** The entries of a tree that is under way. */
export class TreeEntries {
  readonly #entries = new Map<string, { readonly kind: EntryKind; readonly node: number; digests: Uint8Array[] }>();

  /**
   * A request that is repeated gets the same answer; what is encrypted anew may have other bytes each time.
   * @throws TandemError PROTOCOL_STATE if the answer is another one
   */
  note(kind: EntryKind, node: number, digest: Uint8Array): void {
    const key = `${kind}/${node}`;
    const known = this.#entries.get(key);
    if (known === undefined) this.#entries.set(key, { kind, node, digests: [digest] });
    else if (known.digests.some((other) => isSame(other, digest))) return;
    else if (entryFacts[kind].isFresh === true) known.digests.push(digest);
    else throw new TandemError("PROTOCOL_STATE", `${inWords({ kind, node })}: conflicting duplicate message`);
  }

  /** As one buffer: what the link of the tree is over. */
  encoded(): Uint8Array {
    return encodeEntries(this.#sorted().map(({ kind, node, digests }) => ({ kind, node, digest: digests[0] })));
  }

  /**
   * Whether the other side has seen the same; of what was encrypted anew, any of what was sent.
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
        // One side may have what the other has not: that is the one that comes first.
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
