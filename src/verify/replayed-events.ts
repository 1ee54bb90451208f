/** The expected messages of a job, recorded during its replay, in order. */
import type { ClosedGradients, Note } from "../messages/call.ts";
import type { EntryKind } from "../messages/table.ts";
import { PairChain } from "../protocol/chain/pair-chain.ts";
import type { ActivePairRecord, GradientsSignature } from "../protocol/chain/record.ts";

/** One expected message between the active party and `peer`. */
export interface Event {
  readonly peer: string;
  readonly kind: EntryKind;
  readonly node: number;
  readonly digest: Uint8Array;
}

/** What the active party had to sign with the request of a node that has its own gradients. */
export interface ExpectedRequest {
  readonly digest: Uint8Array;
  readonly entries: Uint8Array;
  /** The number of events that the request may depend on. */
  readonly before: number;
}

const nothing = new Uint8Array(0);

export class ReplayedEvents {
  /** Messages of the attempt, which count for all trees. */
  readonly #ofAttempt: Event[] = [];
  #events: Event[] = [];
  /** The hashed bytes, unencrypted. */
  readonly #pieces = new Map<string, readonly Uint8Array[]>();
  /** By peer and node. */
  readonly #requests = new Map<string, ExpectedRequest>();
  /** Per node the number of events when the first party was asked: all are asked at once. */
  readonly #before = new Map<number, number>();

  /** Those of the attempt and of the current tree. */
  get events(): readonly Event[] {
    return [...this.#ofAttempt, ...this.#events];
  }

  pieces({ peer, kind, node }: Event): readonly Uint8Array[] {
    return this.#pieces.get(`${peer}/${kind}/${node}`) ?? [];
  }

  /** Undefined: the party is not asked about the node. */
  request(peer: string, node: number): ExpectedRequest | undefined {
    return this.#requests.get(`${peer}/${node}`);
  }

  /** Starts the next tree. */
  clear(): void {
    this.#events = [];
    this.#pieces.clear();
    this.#requests.clear();
    this.#before.clear();
  }

  /** A record that signs and verifies nothing: the auditor runs both sides. */
  recordOf(peer: string, firstTree: number): ActivePairRecord {
    return {
      own: { commitment: nothing, certificate: nothing },
      joined: () => {
        const chain = new NotedChain(firstTree, nothing, ({ tree, kind, node, digest }) =>
          (tree === null ? this.#ofAttempt : this.#events).push({ peer, kind, node, digest }),
        );
        return {
          chain,
          sign: () => nothing,
          verify: () => {},
          signGradients: (closed) => this.#sign(peer, closed, chain),
          verifyGradients: () => {},
          signAnswer: () => nothing,
          verifyAnswer: () => {},
        };
      },
      keep: ({ kind, node }, pieces) => void this.#pieces.set(`${peer}/${kind}/${node}`, pieces),
      closing: () => Promise.resolve(),
      closed: () => {},
      answered: () => {},
      answersStored: () => Promise.resolve(),
    };
  }

  #sign(peer: string, { node, digest }: ClosedGradients, chain: PairChain): GradientsSignature {
    if (node !== null) {
      const before = this.#before.get(node) ?? this.#ofAttempt.length + this.#events.length;
      this.#before.set(node, before);
      this.#requests.set(`${peer}/${node}`, { digest, entries: chain.closing().entries, before });
    }
    return { signature: nothing };
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
