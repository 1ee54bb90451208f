/**
 * What is kept of one tree's messages between two parties: a digest of each. Their order here does not depend on when
 * they were sent, so that both sides have the same list.
 *
 * An answer has two entries, because its ciphertexts are obfuscated anew each time: `answer` is everything else, which
 * anybody who has the opened data can compute again, and `sums` are the ciphertexts.
 */
import { TandemError } from "../../base/error.ts";

/** In the order in which they stand; those before "members" are about a tree as a whole. */
export const entryKinds = [
  "terms",
  "set-up",
  "ready",
  "sample",
  "gradients",
  "members",
  "answer",
  "sums",
  "order",
  "decision",
  "outcome",
  "choices",
] as const;
export type EntryKind = (typeof entryKinds)[number];

export interface Entry {
  readonly kind: EntryKind;
  /** 0 of what is about the whole tree. */
  readonly node: number;
  readonly digest: Uint8Array;
}

export const digestBytes = 32;
const entryBytes = 1 + 4 + digestBytes;

/** The entries of a tree that is under way. */
export class TreeEntries {
  readonly #entries = new Map<string, { readonly kind: EntryKind; readonly node: number; digests: Uint8Array[] }>();

  /**
   * A question that is asked again gets the same sums in other ciphertexts; everything else is the same.
   * @throws TandemError PROTOCOL_STATE if it is not
   */
  note(kind: EntryKind, node: number, digest: Uint8Array): void {
    const key = `${kind}/${node}`;
    const known = this.#entries.get(key);
    if (known === undefined) this.#entries.set(key, { kind, node, digests: [digest] });
    else if (known.digests.some((other) => isSame(other, digest))) return;
    else if (kind === "sums") known.digests.push(digest);
    else throw new TandemError("PROTOCOL_STATE", `${inWords({ kind, node })}: told twice, and in two ways`);
  }

  /** As one buffer: what the link of the tree is over. */
  encoded(): Uint8Array {
    return encodeEntries(this.#sorted().map(({ kind, node, digests }) => ({ kind, node, digest: digests[0] })));
  }

  /**
   * Whether the other side has seen the same: of sums that were sent more than once, any of them.
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
  return a.node - b.node || entryKinds.indexOf(a.kind) - entryKinds.indexOf(b.kind);
}

export function encodeEntries(entries: readonly Entry[]): Uint8Array {
  const bytes = Buffer.alloc(entries.length * entryBytes);
  entries.forEach(({ kind, node, digest }, i) => {
    bytes.writeUInt8(entryKinds.indexOf(kind), i * entryBytes);
    bytes.writeUInt32LE(node, i * entryBytes + 1);
    bytes.set(digest, i * entryBytes + 5);
  });
  return new Uint8Array(bytes);
}

/** @throws TandemError PROTOCOL_STATE */
export function decodeEntries(encoded: Uint8Array): Entry[] {
  const bytes = Buffer.from(encoded.buffer, encoded.byteOffset, encoded.byteLength);
  if (bytes.length % entryBytes !== 0) throw new TandemError("PROTOCOL_STATE", "a list of digests that is cut off");
  return Array.from({ length: bytes.length / entryBytes }, (_, i) => {
    const kind = entryKinds[bytes.readUInt8(i * entryBytes)];
    if (kind === undefined) throw new TandemError("PROTOCOL_STATE", "a digest of nothing that is known");
    const digest = Uint8Array.from(bytes.subarray(i * entryBytes + 5, (i + 1) * entryBytes));
    return { kind, node: bytes.readUInt32LE(i * entryBytes + 1), digest };
  });
}

const words: Readonly<Record<EntryKind, string>> = {
  terms: "the terms of the job",
  "set-up": "the set-up",
  ready: "the answer to the set-up",
  sample: "the sample",
  gradients: "the gradients",
  members: "who is in",
  answer: "the answer about",
  sums: "the sums of",
  order: "the order of candidates at",
  decision: "the decision at",
  outcome: "the outcome at",
  choices: "the hidden choices from",
};

/** "the sums of node 3". */
export function inWords({ kind, node }: Named): string {
  return entryKinds.indexOf(kind) < entryKinds.indexOf("members") ? words[kind] : `${words[kind]} node ${node}`;
}

export function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
