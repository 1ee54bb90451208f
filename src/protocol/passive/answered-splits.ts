/**
 * A passive party's own splits, as its storage has them: what a party has given away it gives away once, whatever is
 * asked again after a lost connection or a crash. A node that was split before may be asked about again only in the
 * same way, about the same people, and then gets the same answer.
 *
 * Nothing is answered before it is stored. They change only when the store has taken them, one change at a time.
 */
import { createHash } from "node:crypto";
import { TandemError } from "../../base/error.ts";
import type { SplitTest } from "../../gbdt/split/split-test.ts";
import { splitKey, treeOfKey } from "../split-key.ts";

/** One of this party's own splits: its share of the model is a list of these. */
export type OwnSplit = SplitTest & {
  readonly tree: number;
  readonly node: number;
  readonly feature: number;
  readonly featureName: string;
};

/** What a passive party must not forget of a job that is under way. */
export interface PassiveProgress {
  /** Number of trees that are finished; splits of the next one may be there too. */
  readonly trees: number;
  readonly splits: readonly OwnSplit[];
  /** Digests of the people in each node that was split, by split key; of trees that can still be redone. */
  readonly members: Readonly<Record<string, string>>;
}

export const noProgress: PassiveProgress = { trees: 0, splits: [], members: {} };

/** A split that is about to be answered. */
export interface DecidedSplit {
  readonly split: OwnSplit;
  /** The people in the node. */
  readonly members: Uint32Array;
}

export class AnsweredSplits {
  readonly #store: (progress: PassiveProgress) => Promise<void>;
  readonly #treesPerRound: number;
  #progress: PassiveProgress;
  /** Nodes of the current tree that were asked about since it began on this connection. */
  #asked = new Set<number>();

  /** @param treesPerRound trees that are redone together */
  constructor(progress: PassiveProgress, store: (progress: PassiveProgress) => Promise<void>, treesPerRound = 1) {
    this.#treesPerRound = treesPerRound;
    this.#progress = progress;
    this.#store = store;
  }

  get splits(): readonly OwnSplit[] {
    return this.#progress.splits;
  }

  get trees(): number {
    return this.#progress.trees;
  }

  /** A tree begins, for the first time or again. */
  beginTree(): void {
    this.#asked = new Set();
  }

  /** @throws TandemError PROTOCOL_STATE if a node was split in another way before; nothing is changed then */
  async keep(decided: readonly DecidedSplit[]): Promise<void> {
    const splits = [...this.#progress.splits];
    const members = { ...this.#progress.members };
    for (const { split, members: people } of decided) {
      const digest = membersDigest(people);
      const known = splits.find(({ tree, node }) => tree === split.tree && node === split.node);
      if (known === undefined) {
        splits.push(split);
        members[splitKey(split.tree, split.node)] = digest;
      } else if (!sameSplit(known, split) || members[splitKey(split.tree, split.node)] !== digest) {
        throw new TandemError(
          "PROTOCOL_STATE",
          `node ${split.node} is split already, and in another way than is asked now`,
        );
      }
    }
    if (splits.length > this.#progress.splits.length) await this.#keep({ trees: this.trees, splits, members });
    for (const { split } of decided) this.#asked.add(split.node);
  }

  /** @throws TandemError PROTOCOL_STATE if the tree is not the one that was grown before */
  async finishTree(finished: number): Promise<void> {
    const { splits, members } = this.#progress;
    const forgotten = splits.find(({ tree, node }) => tree === finished && !this.#asked.has(node));
    if (forgotten !== undefined)
      throw new TandemError(
        "PROTOCOL_STATE",
        `tree ${finished} was grown in another way before: node ${forgotten.node} was split`,
      );
    if (finished < this.trees) return;
    // The trees of this round may be redone, those before it never again.
    const firstOfRound = finished - (finished % this.#treesPerRound);
    const kept = Object.entries(members).filter(([key]) => treeOfKey(key) >= firstOfRound);
    await this.#keep({ trees: finished + 1, splits, members: Object.fromEntries(kept) });
  }

  async #keep(progress: PassiveProgress): Promise<void> {
    await this.#store(progress);
    this.#progress = progress;
  }
}

function sameSplit(a: OwnSplit, b: OwnSplit): boolean {
  const sameTest =
    Object.is(a.threshold, b.threshold) &&
    JSON.stringify(a.categories) === JSON.stringify(b.categories) &&
    a.defaultLeft === b.defaultLeft;
  return a.feature === b.feature && a.featureName === b.featureName && sameTest;
}

function membersDigest(members: Uint32Array): string {
  return createHash("sha256")
    .update(new Uint8Array(members.buffer, members.byteOffset, members.byteLength))
    .digest("hex");
}
