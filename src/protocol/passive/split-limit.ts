/**
 * How much a passive party's splits may reveal in one job: the number of thresholds of each feature, and bits. The
 * candidates offered depend on the splits before a tree (gbdt/split/offered-candidates.ts), so that a tree that is
 * redone is offered the same. An active party that redoes a tree differently could exceed the limit, so each split is
 * also counted against all that were ever answered.
 */
import { TandemError } from "../../base/error.ts";
import type { CountedColumns } from "../../gbdt/split/revealed-pieces.ts";
import { type SplitLimits, type RevealedSplits, revealedWithin } from "../../gbdt/split/revealed-splits.ts";
import type { OwnSplit } from "./answered-splits.ts";

export class SplitLimit {
  readonly #limits: SplitLimits;
  readonly #columns: () => CountedColumns;
  /** Null: no limit. */
  readonly #ever: RevealedSplits | null;
  /** What earlier trees have revealed, and answers of the current one since it began. */
  #revealed: RevealedSplits | null = null;

  /**
   * @param columns counted over the instances that trees may be trained on
   * @param splits all that were answered before, including those of a start model
   */
  constructor(limits: SplitLimits, columns: () => CountedColumns, splits: readonly OwnSplit[]) {
    let counted: CountedColumns | undefined;
    this.#limits = limits;
    this.#columns = () => (counted ??= columns());
    this.#ever = revealedWithin(limits, this.#columns, splits);
  }

  /** A tree begins, for the first time or again. @returns what grows as its splits are answered; null: no limit */
  beginTree(tree: number, splits: readonly OwnSplit[]): RevealedSplits | null {
    const before = splits.filter((split) => split.tree < tree);
    this.#revealed = revealedWithin(this.#limits, this.#columns, before);
    return this.#revealed;
  }

  /** @throws TandemError PROTOCOL_STATE if one of the splits would reveal too much */
  check(splits: readonly OwnSplit[]): void {
    const after = this.#ever?.copy();
    if (after === undefined) return;
    const { thresholds, budget } = after;
    const bitsBefore = budget?.pieces.bits ?? 0;
    for (const split of splits) {
      if (thresholds !== null && !thresholds.has(split.featureName, split) && thresholds.free(split.featureName) === 0)
        throw new TandemError(
          "PROTOCOL_STATE",
          `node ${split.node} would be split by more thresholds than max_thresholds allows`,
        );
      after.add(split);
      // A start model may have revealed more: then nothing is added.
      if (budget?.isExceeded === true && budget.pieces.bits > bitsBefore)
        throw new TandemError(
          "PROTOCOL_STATE",
          `the split of node ${split.node} would reveal more than outcome_bits allows`,
        );
    }
  }

  /** The splits are stored, and about to be sent. */
  answered(splits: readonly OwnSplit[]): void {
    for (const split of splits) {
      this.#ever?.add(split);
      this.#revealed?.add(split);
    }
  }
}
