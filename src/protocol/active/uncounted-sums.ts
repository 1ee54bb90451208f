/**
 * Plausibility check of sums without counts and without noise: no sum is below that of the node's negative gradients or
 * above that of its positive ones, and categories add up to the node.
 */
import type { QuantisedGradients } from "../../base/gradients/quantised-gradients.ts";
import { rowLoops } from "../../base/rows/row-loops.ts";
import type { GrowingNode } from "../../gbdt/tree/grow.ts";
import type { CandidateRows } from "../../scheme/candidates/candidate-rows.ts";
import { categorySums } from "../../scheme/candidates/category-group.ts";

interface Range {
  readonly slot: number;
  readonly least: number;
  readonly most: number;
}

export class UncountedSums {
  readonly #columns: readonly Float64Array[];
  /** Those of the tree. */
  readonly #slots: readonly number[];
  /** Slots without negative values, usually hessians. */
  readonly #positive: ReadonlySet<number>;
  /** Ranges of the last node, cached because every party has candidates there. */
  #last: { readonly sampled: Uint32Array; readonly ranges: readonly Range[] } | null = null;

  /** @param outputs outputs of the tree: sums of others are not sent */
  constructor({ columns }: Pick<QuantisedGradients, "columns">, outputs: readonly number[]) {
    this.#columns = columns;
    this.#slots = outputs.flatMap((output) => [2 * output, 2 * output + 1]);
    this.#positive = new Set(this.#slots.filter((slot) => !hasNegative(columns[slot])));
  }

  /** @returns what is wrong with a node's candidates; null: nothing */
  fault(ofPeer: CandidateRows, { sampled, totals }: Pick<GrowingNode, "sampled" | "totals">): string | null {
    const { rows } = ofPeer;
    if (rows.length === 0) return null;
    const ranges = this.#ranges(sampled, totals);
    for (let row = 0; row < rows.length; row += totals.length)
      if (!isWithin(rows, row, totals, ranges)) return "a sum that instances of the node cannot have";
    return groupFault(ofPeer, totals, ranges);
  }

  #ranges(sampled: Uint32Array, totals: Float64Array): readonly Range[] {
    if (this.#last?.sampled !== sampled) {
      const ranges = this.#slots.map((slot): Range => {
        const sum = totals[slot];
        const sizes = this.#positive.has(slot) ? sum : rowLoops().sumOfSizes(this.#columns[slot], sampled);
        return { slot, least: (sum - sizes) / 2, most: (sum + sizes) / 2 };
      });
      this.#last = { sampled, ranges };
    }
    return this.#last.ranges;
  }
}

function hasNegative(column: Float64Array): boolean {
  for (let i = 0; i < column.length; i++) if (column[i] < 0) return true;
  return false;
}

/** Checks the sum, and the sum of the other instances. */
function isWithin(rows: Float64Array, row: number, totals: Float64Array, ranges: readonly Range[]): boolean {
  for (let i = 0; i < ranges.length; i++) {
    const { slot, least, most } = ranges[i];
    const sum = rows[row + slot];
    const rest = totals[slot] - sum;
    if (!(sum >= least && sum <= most && rest >= least && rest <= most)) return false;
  }
  return true;
}

/** Each instance of a node is in one category of each feature, which may be suppressed. */
function groupFault(ofPeer: CandidateRows, totals: Float64Array, ranges: readonly Range[]): string | null {
  for (const { sum, suppressed } of categorySums(ofPeer, totals)) {
    const isWhole = ranges.every(({ slot }) => sum[slot] === totals[slot]);
    if (!isWhole && !(suppressed.includes(1) && isWithin(sum, 0, totals, ranges)))
      return "categories that do not add up to the node";
  }
  return null;
}
