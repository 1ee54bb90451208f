/**
 * The thresholds of one party's features that a job has used: those of won splits, in all trees and folds, and in the
 * model of a warm start. A job may limit their number per feature.
 *
 * A threshold counts once for both directions of missing values. "Present left, missing right" has a separate
 * threshold. For a categorical feature each category that was split off counts, or each category set.
 */
import type { NamedTest } from "./named-test.ts";
import type { SplitTest } from "./split-test.ts";

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

  /** The number of remaining thresholds of a feature. */
  free(feature: string): number {
    return Math.max(0, this.limit - (this.#byFeature.get(feature)?.size ?? 0));
  }

  /** Whether some feature exceeds its limit. */
  get isExceeded(): boolean {
    return [...this.#byFeature.values()].some(({ size }) => size > this.limit);
  }

  copy(): UsedThresholds {
    const copy = new UsedThresholds(this.limit);
    for (const [feature, known] of this.#byFeature) copy.#byFeature.set(feature, new Set(known));
    return copy;
  }
}

/** Equal for tests that count as one. */
function thresholdKey({ threshold, categories }: SplitTest): string {
  return categories === undefined ? String(threshold) : JSON.stringify(categories);
}
