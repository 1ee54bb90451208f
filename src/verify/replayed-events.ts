/** What the messages of a job had to be: noted while it is computed once more, in the order in which they come. */
import type { EntryKind } from "../protocol/chain/entries.ts";
import { PairChain } from "../protocol/chain/pair-chain.ts";
import type { ActivePairRecord } from "../protocol/chain/record.ts";

/** One message that had to be sent between the active party and `peer`. */
export interface Event {
  readonly peer: string;
  readonly kind: EntryKind;
  readonly node: number;
  readonly digest: Uint8Array;
}

export class ReplayedEvents {
  /** Of the set-up: the same in all trees. */
  readonly #fixed: Event[] = [];
  #events: Event[] = [];
  /** Answers in the clear, piece by piece. */
  readonly #answers = new Map<string, readonly Uint8Array[]>();

  /** Of the tree under way, from its beginning. */
  get events(): readonly Event[] {
    return [...this.#fixed, ...this.#events];
  }

  answer(peer: string, node: number): readonly Uint8Array[] {
    return this.#answers.get(`${peer}/${node}`) ?? [];
  }

  /** The next tree. */
  clear(): void {
    this.#events = [];
    this.#answers.clear();
  }

  /** A record that signs nothing and checks nothing: both sides are the auditor's. */
  recordOf(peer: string, firstTree: number): ActivePairRecord {
    const nothing = new Uint8Array(0);
    const note = (kind: EntryKind, node: number, digest: Uint8Array): void =>
      void this.#events.push({ peer, kind, node, digest });
    const noteFixed = (kind: EntryKind, digest: Uint8Array): void =>
      void this.#fixed.push({ peer, kind, node: 0, digest });
    return {
      own: { commitment: nothing, certificate: nothing },
      joined: () => ({
        chain: new NotedChain(firstTree, nothing, note, noteFixed),
        sign: () => nothing,
        verify: () => {},
      }),
      setUp: () => {},
      answered: (_tree, node, pieces) => void this.#answers.set(`${peer}/${node}`, pieces),
      closed: () => {},
    };
  }
}

class NotedChain extends PairChain {
  readonly #note: (kind: EntryKind, node: number, digest: Uint8Array) => void;
  readonly #noteFixed: (kind: EntryKind, digest: Uint8Array) => void;

  constructor(
    tree: number,
    previous: Uint8Array,
    note: (kind: EntryKind, node: number, digest: Uint8Array) => void,
    noteFixed: (kind: EntryKind, digest: Uint8Array) => void,
  ) {
    super(tree, previous);
    this.#note = note;
    this.#noteFixed = noteFixed;
  }

  override noteFixed(kind: "terms" | "set-up" | "ready", digest: Uint8Array): void {
    super.noteFixed(kind, digest);
    this.#noteFixed(kind, digest);
  }

  override note(tree: number, kind: EntryKind, node: number, digest: Uint8Array): void {
    super.note(tree, kind, node, digest);
    if (tree === this.tree) this.#note(kind, node, digest);
  }
}
