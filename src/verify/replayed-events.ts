/** The expected messages of a job, recorded during its replay, in order. */
import type { Note } from "../messages/call.ts";
import type { EntryKind } from "../messages/table.ts";
import { PairChain } from "../protocol/chain/pair-chain.ts";
import type { ActivePairRecord } from "../protocol/chain/record.ts";

/** One expected message between the active party and `peer`. */
export interface Event {
  readonly peer: string;
  readonly kind: EntryKind;
  readonly node: number;
  readonly digest: Uint8Array;
}

export class ReplayedEvents {
  /** Messages of the attempt, which count for all trees. */
  readonly #ofAttempt: Event[] = [];
  #events: Event[] = [];
  /** The hashed bytes, unencrypted. */
  readonly #pieces = new Map<string, readonly Uint8Array[]>();

  /** Those of the attempt and of the current tree. */
  get events(): readonly Event[] {
    return [...this.#ofAttempt, ...this.#events];
  }

  pieces({ peer, kind, node }: Event): readonly Uint8Array[] {
    return this.#pieces.get(`${peer}/${kind}/${node}`) ?? [];
  }

  /** Starts the next tree. */
  clear(): void {
    this.#events = [];
    this.#pieces.clear();
  }

  /** A record that signs and verifies nothing: the auditor runs both sides. */
  recordOf(peer: string, firstTree: number): ActivePairRecord {
    const nothing = new Uint8Array(0);
    return {
      own: { commitment: nothing, certificate: nothing },
      joined: () => ({
        chain: new NotedChain(firstTree, nothing, ({ tree, kind, node, digest }) =>
          (tree === null ? this.#ofAttempt : this.#events).push({ peer, kind, node, digest }),
        ),
        sign: () => nothing,
        verify: () => {},
        signGradients: () => nothing,
        verifyGradients: () => {},
      }),
      keep: ({ kind, node }, pieces) => void this.#pieces.set(`${peer}/${kind}/${node}`, pieces),
      closing: () => Promise.resolve(),
      closed: () => {},
    };
  }
}

class NotedChain extends PairChain {
  readonly #noted: (note: Note<EntryKind>) => void;

  constructor(tree: number, previous: Uint8Array, noted: (note: Note<EntryKind>) => void) {
    super(tree, previous);
    this.#noted = noted;
  }

  override note(note: Note<EntryKind>): void {
    super.note(note);
    if (note.tree === null || note.tree === this.tree) this.#noted(note);
  }
}
