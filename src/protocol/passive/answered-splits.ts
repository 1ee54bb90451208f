/**
 * A passive party's own splits, as stored. What a party has revealed it reveals once, whatever is requested again after
 * a lost connection or a crash: a node that was split before may be requested again only with the same candidate and
 * the same members, and then gets the same answer.
 *
 * Nothing is answered before it is stored.
 */
import { TandemError } from "../../base/error.ts";
import type { SplitTest } from "../../gbdt/split/split-test.ts";
import { partition } from "../../wire/bitmap.ts";
import { splitKey, treeOfKey } from "../split-key.ts";
import { membersDigest } from "./digests.ts";
import type { PassiveProgress, StoredProgress } from "./progress.ts";

export { noProgress, type PassiveProgress } from "./progress.ts";

/** One of this party's own splits: its share of the model is a list of these. */
export type OwnSplit = SplitTest & {
  readonly tree: number;
  readonly node: number;
  readonly feature: number;
  readonly featureName: string;
};

/** A split that is about to be answered. */
export interface DecidedSplit {
  readonly split: OwnSplit;
  /** The members of the node; null where they are hidden. */
  readonly members: Uint32Array | null;
  /** Bitmap over the members. */
  readonly leftMembers: Uint8Array;
}

export class AnsweredSplits {
  readonly #progress: StoredProgress;
  readonly #treesPerRound: number;
  /** Nodes of the current tree whose splits were requested since it began on this connection. */
  #asked = new Set<number>();
  /** Nodes of the current tree whose order of candidates was requested since then. */
  #ordered = new Set<number>();

  /** @param treesPerRound trees that are redone together */
  constructor(progress: StoredProgress, treesPerRound = 1) {
    this.#treesPerRound = treesPerRound;
    this.#progress = progress;
  }

  get splits(): readonly OwnSplit[] {
    return this.#progress.current.splits;
  }

  get trees(): number {
    return this.#progress.current.trees;
  }

  /** Nodes of a tree that this party has split, in this attempt or before. */
  nodesOf(tree: number): ReadonlySet<number> {
    return new Set(this.splits.filter((split) => split.tree === tree).map(({ node }) => node));
  }

  /** Digest of the members that went left where this party split the node; null: it did not. */
  leftOf(tree: number, node: number): string | null {
    return this.#progress.current.sides[splitKey(tree, node)] ?? null;
  }

  /**
   * A finished tree may be redone, but nothing new of it is answered: it was counted and signed at its end.
   * @throws TandemError PROTOCOL_STATE naming the node
   */
  requireUnfinished(tree: number, node: number): void {
    requireUnfinished(this.#progress.current, tree, node);
  }

  /** The order of a node's candidates is requested. @throws TandemError PROTOCOL_STATE if its tree is finished */
  ordered(tree: number, node: number): void {
    if (!this.#progress.current.orders.includes(splitKey(tree, node))) this.requireUnfinished(tree, node);
    this.#ordered.add(node);
  }

  /** A tree begins, for the first time or again. */
  beginTree(): void {
    this.#asked = new Set();
    this.#ordered = new Set();
  }

  /** @throws TandemError PROTOCOL_STATE if a node was split differently before; nothing is changed then */
  async keep(decided: readonly DecidedSplit[]): Promise<void> {
    await this.#progress.update((progress) => withSplits(progress, decided));
    for (const { split } of decided) this.#asked.add(split.node);
  }

  /** @throws TandemError PROTOCOL_STATE if the tree differs from the one that was grown before */
  async finishTree(finished: number): Promise<void> {
    await this.#progress.update(({ trees, splits, members, sides, orders, opened }) => {
      const forgotten = splits.find(({ tree, node }) => tree === finished && !this.#asked.has(node));
      if (forgotten !== undefined)
        throw new TandemError(
          "PROTOCOL_STATE",
          `tree ${finished} was grown differently before: node ${forgotten.node} was split`,
        );
      if (finished < trees) return null;
      // The trees of this round may be redone, those before it never again.
      const firstOfRound = finished - (finished % this.#treesPerRound);
      const ordered = Array.from(this.#ordered, (node) => splitKey(finished, node));
      return {
        trees: finished + 1,
        members: since(members, firstOfRound),
        sides: since(sides, firstOfRound),
        orders: [...orders.filter((key) => treeOfKey(key) >= firstOfRound), ...ordered],
        opened: opened.filter(({ tree }) => tree >= firstOfRound),
      };
    });
  }
}

/** @returns null if all of them are stored already */
function withSplits(progress: PassiveProgress, decided: readonly DecidedSplit[]): Partial<PassiveProgress> | null {
  const splits = [...progress.splits];
  const members = { ...progress.members };
  const sides = { ...progress.sides };
  for (const { split, members: inNode, leftMembers } of decided) {
    const digest = inNode && membersDigest(inNode);
    const key = splitKey(split.tree, split.node);
    const known = splits.find(({ tree, node }) => tree === split.tree && node === split.node);
    if (known === undefined) {
      requireUnfinished(progress, split.tree, split.node);
      splits.push(split);
      if (inNode === null || digest === null) continue;
      members[key] = digest;
      sides[key] = membersDigest(partition(inNode, leftMembers).inside);
    } else if (!sameSplit(known, split) || (digest !== null && members[key] !== digest)) {
      throw new TandemError("PROTOCOL_STATE", `node ${split.node} is already split differently`);
    }
  }
  return splits.length > progress.splits.length ? { splits, members, sides } : null;
}

function requireUnfinished({ trees }: PassiveProgress, tree: number, node: number): void {
  if (tree >= trees) return;
  throw new TandemError("PROTOCOL_STATE", `tree ${tree} is finished: nothing new about node ${node} is answered`);
}

/** Only the digests of this tree and later ones. */
function since(digests: Readonly<Record<string, string>>, tree: number): Record<string, string> {
  return Object.fromEntries(Object.entries(digests).filter(([key]) => treeOfKey(key) >= tree));
}

function sameSplit(a: OwnSplit, b: OwnSplit): boolean {
  const sameTest =
    Object.is(a.threshold, b.threshold) &&
    JSON.stringify(a.categories) === JSON.stringify(b.categories) &&
    a.defaultLeft === b.defaultLeft;
  return a.feature === b.feature && a.featureName === b.featureName && sameTest;
}
