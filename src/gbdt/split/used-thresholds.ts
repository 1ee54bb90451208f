/**
 * The thresholds of one party's features that a job has used: those of the splits that were won, in all trees and
 * folds, and in the model that it goes on from. A job may agree on how many each feature may have.
 *
 * A threshold counts once, wherever missing values go. "Present left, missing right" has a threshold of its own. Of a
 * categorical feature each category counts that was split off, or each set of categories.
 */
import type { SplitTest } from "./split-test.ts";

/** A split of a feature by name: rules and the splits of a share are such. */
export type NamedTest = SplitTest & { readonly featureName: string };

export class UsedThresholds {
  /** Per feature; at least 1. */
  readonly limit: number;
  readonly #byFeature = new Map<string, Set<string>>();

  constructor(limit: number, splits: Iterable<NamedTest> = []) {
    this.limit = limit;
    for (const split of splits) this.add(split);
  }

  add(split: NamedTest): void {
    const known = this.#byFeature.get(split.featureName) ?? new Set();
    this.#byFeature.set(split.featureName, known.add(thresholdKey(split)));
  }

  has(feature: string, test: SplitTest): boolean {
    return this.#byFeature.get(feature)?.has(thresholdKey(test)) === true;
  }

  /** Places of a feature that are left. */
  free(feature: string): number {
    return Math.max(0, this.limit - (this.#byFeature.get(feature)?.size ?? 0));
  }

  /** Some feature has more than it may. */
  get isExceeded(): boolean {
    return [...this.#byFeature.values()].some(({ size }) => size > this.limit);
  }

  copy(): UsedThresholds {
    const copy = new UsedThresholds(this.limit);
    for (const [feature, known] of this.#byFeature) copy.#byFeature.set(feature, new Set(known));
    return copy;
  }
}

/** The same for tests that count as one. */
function thresholdKey({ threshold, categories }: SplitTest): string {
  return categories === undefined ? String(threshold) : JSON.stringify(categories);
}
