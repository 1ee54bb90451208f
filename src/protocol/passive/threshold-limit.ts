/**
 * How many thresholds of each feature a passive party's splits may use in one job. The candidates offered depend on the
 * splits before a tree (gbdt/split/threshold-places.ts), so that a tree that is redone is offered the same. An active
 * party that redoes a tree differently could exceed the limit, so each split is also counted against all that were ever
 * answered.
 */
import { TandemError } from "../../base/error.ts";
import { type SplitLimits, type UsedThresholds, usedWithin } from "../../gbdt/split/used-thresholds.ts";
import type { OwnSplit } from "./answered-splits.ts";

export class ThresholdLimit {
  readonly #limits: SplitLimits;
  /** Null: no limit. */
  readonly #ever: UsedThresholds | null;
  /** Thresholds used in earlier trees, and in answers of the current one since it began. */
  #used: UsedThresholds | null = null;

  /** @param splits all that were answered before, including those of a start model */
  constructor(limits: SplitLimits, splits: readonly OwnSplit[]) {
    this.#limits = limits;
    this.#ever = usedWithin(limits, splits);
  }

  /** A tree begins, for the first time or again. @returns what grows as its splits are answered; null: no limit */
  beginTree(tree: number, splits: readonly OwnSplit[]): UsedThresholds | null {
    this.#used = usedWithin(
      this.#limits,
      splits.filter((split) => split.tree < tree),
    );
    return this.#used;
  }

  /** @throws TandemError PROTOCOL_STATE if one of the splits would use a threshold too many */
  check(splits: readonly OwnSplit[]): void {
    const after = this.#ever?.copy();
    if (after === undefined) return;
    for (const split of splits) {
      if (!after.has(split.featureName, split) && after.free(split.featureName) === 0)
        throw new TandemError(
          "PROTOCOL_STATE",
          `node ${split.node} would be split by more thresholds than max_thresholds allows`,
        );
      after.add(split);
    }
  }

  /** The splits are stored, and about to be sent. */
  answered(splits: readonly OwnSplit[]): void {
    for (const split of splits) {
      this.#ever?.add(split);
      this.#used?.add(split);
    }
  }
}
