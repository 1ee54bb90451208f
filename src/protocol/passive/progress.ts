/**
 * What a passive party must not forget of a job that is under way, whatever happens to a connection or a process. It
 * changes only when its storage has taken the change, one change after the other.
 */
import { Exclusive } from "../../base/scheduling/exclusive.ts";
import type { OwnSplit } from "./answered-splits.ts";

/** The round that was begun last. Earlier ones are never redone. */
export interface BegunRound {
  /** Its first tree. */
  readonly tree: number;
  /** Digest of its sample. */
  readonly sample: string;
  /** Chunks of its gradients that are kept for the case that it is redone; null: none are, or not all yet. */
  readonly chunks: number | null;
}

export interface PassiveProgress {
  /** Number of trees that are finished; splits of the next one may be there too. */
  readonly trees: number;
  readonly splits: readonly OwnSplit[];
  /** Digests of the people in each node that was split, by split key; of trees that can still be redone. */
  readonly members: Readonly<Record<string, string>>;
  /** Digests of those of them that went left. */
  readonly sides: Readonly<Record<string, string>>;
  /** Digest of the set-up that the first round began with: the key stays the same. Null before that. */
  readonly setUp: string | null;
  /** Null before the first gradients. */
  readonly round: BegunRound | null;
  /** Nodes that may have been answered, where members are hidden: reserved round by round, before any is. */
  readonly nodesReserved: number;
  /** Digest of the ids that are predicted. Once they are known training is over. */
  readonly testRows: string | null;
}

export const noProgress: PassiveProgress = {
  trees: 0,
  splits: [],
  members: {},
  sides: {},
  setUp: null,
  round: null,
  nodesReserved: 0,
  testRows: null,
};

/** Whether something was told that the same job may not be asked again in another way. */
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

  /** @param change what is different now, given what is stored; null: nothing. What it throws changes nothing */
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
