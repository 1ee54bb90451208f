/**
 * Progress of a job that a passive party must keep across lost connections and crashes. It changes only after the
 * change is stored, and changes are serialised.
 */
import { Exclusive } from "../../base/scheduling/exclusive.ts";
import type { OwnSplit } from "./answered-splits.ts";

/** The latest round. Earlier ones are never redone. */
export interface BegunRound {
  /** Its first tree. */
  readonly tree: number;
  /** Digest of its sample. */
  readonly sample: string;
}

/** Nodes whose best candidates were opened, where sums are hidden: they are not compared again, but repeated. */
export interface OpenedNodes {
  readonly tree: number;
  readonly bits: number;
  readonly nodes: readonly {
    readonly node: number;
    readonly candidates: number;
    /** This party's share of the winner's place. */
    readonly place: number;
  }[];
  /** The active party's shares, sealed by it, and what was opened; base64. */
  readonly sealed: string;
  readonly opened: string;
}

export interface PassiveProgress {
  /** Number of finished trees; `splits` may include some of the next one. */
  readonly trees: number;
  readonly splits: readonly OwnSplit[];
  /** Digests of the members of each split node, by split key; of trees that can still be redone. */
  readonly members: Readonly<Record<string, string>>;
  /** Digests of the members that went left. */
  readonly sides: Readonly<Record<string, string>>;
  /** Split keys of the nodes whose order of candidates was requested in finished trees that can still be redone. */
  readonly orders: readonly string[];
  /** Batches of nodes, of trees that can still be redone. */
  readonly opened: readonly OpenedNodes[];
  /** Digest of the first round's set-up: the key must stay the same. Null before that. */
  readonly setUp: string | null;
  /** Null before the first gradients. */
  readonly round: BegunRound | null;
  /** Digest of the predicted ids. Once they are fixed, training is over. */
  readonly testRows: string | null;
}

export const noProgress: PassiveProgress = {
  trees: 0,
  splits: [],
  members: {},
  sides: {},
  orders: [],
  opened: [],
  setUp: null,
  round: null,
  testRows: null,
};

/** Whether something was answered that fixes how the job may be repeated. */
export function hasBegun({ trees, splits, round, testRows }: PassiveProgress): boolean {
  return trees > 0 || splits.length > 0 || round !== null || testRows !== null;
}

export class StoredProgress {
  readonly #store: (progress: PassiveProgress) => Promise<void>;
  readonly #turns = new Exclusive();
  #current: PassiveProgress;

  constructor(progress: PassiveProgress, store: (progress: PassiveProgress) => Promise<void>) {
    this.#current = progress;
    this.#store = store;
  }

  get current(): PassiveProgress {
    return this.#current;
  }

  /** @param change returns the changed fields, given what is stored; null: no change. If it throws, nothing changes */
  update(change: (progress: PassiveProgress) => Partial<PassiveProgress> | null): Promise<void> {
    return this.#turns.run(async () => {
      const changed = change(this.#current);
      if (changed === null) return;
      const next = { ...this.#current, ...changed };
      await this.#store(next);
      this.#current = next;
    });
  }
}
