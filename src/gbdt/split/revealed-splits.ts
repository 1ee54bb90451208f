/**
 * What the won splits of one party have revealed so far, where a job limits it: those of all trees and folds, and those
 * of a start model.
 */
import type { Defences } from "../../privacy/defences/defences.ts";
import type { NamedTest } from "./named-test.ts";
import { type CountedColumns, RevealedPieces } from "./revealed-pieces.ts";
import { UsedThresholds } from "./used-thresholds.ts";

/** Those of a job's defences that limit the splits of passive parties. */
export type SplitLimits = Pick<Defences, "max_thresholds" | "outcome_bits">;

/** What is offered at a node depends on the splits before it. */
export function limitsSplits({ max_thresholds: thresholds, outcome_bits: bits }: SplitLimits): boolean {
  return thresholds > 0 || bits > 0;
}

/** Rounding of logarithms, over all splits of a job. */
const slack = 1e-3;

export class BitBudget {
  readonly pieces: RevealedPieces;
  /** Over all columns of the party. */
  readonly #bits: number;

  constructor(bits: number, pieces: RevealedPieces) {
    this.#bits = bits;
    this.pieces = pieces;
  }

  get free(): number {
    return Math.max(0, this.#bits - this.pieces.bits);
  }

  get isExceeded(): boolean {
    return this.pieces.bits > this.#bits + slack;
  }

  copy(): BitBudget {
    return new BitBudget(this.#bits, this.pieces.copy());
  }
}

export class RevealedSplits {
  /** Null: their number is not limited. */
  readonly thresholds: UsedThresholds | null;
  /** Null: bits are not limited. */
  readonly budget: BitBudget | null;

  constructor(thresholds: UsedThresholds | null, budget: BitBudget | null) {
    this.thresholds = thresholds;
    this.budget = budget;
  }

  add(split: NamedTest): void {
    this.thresholds?.add(split);
    this.budget?.pieces.add(split);
  }

  copy(): RevealedSplits {
    return new RevealedSplits(this.thresholds?.copy() ?? null, this.budget?.copy() ?? null);
  }
}

/**
 * Those of the given splits. Null: the job has no limit.
 * @param columns of the party, with the start model's splits; computed only where bits are limited
 */
export function revealedWithin(
  limits: SplitLimits | undefined,
  columns: () => CountedColumns,
  splits: Iterable<NamedTest> = [],
): RevealedSplits | null {
  if (limits === undefined || !limitsSplits(limits)) return null;
  const { max_thresholds: thresholds, outcome_bits: bits } = limits;
  const revealed = new RevealedSplits(
    thresholds > 0 ? new UsedThresholds(thresholds) : null,
    bits > 0 ? budgetOf() : null,
  );
  for (const split of splits) revealed.add(split);
  return revealed;

  function budgetOf(): BitBudget {
    const counted = columns();
    return new BitBudget(bits * counted.features.length, new RevealedPieces(counted));
  }
}
