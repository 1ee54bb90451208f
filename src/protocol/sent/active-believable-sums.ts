/**
 * Plausibility check of a passive party's sums. The active party knows every gradient and every node's total, so it can
 * reject sums that no columns can produce.
 *
 * Not applied with noise: no counts are sent there, and categories do not add up.
 */
import { highLimb, type QuantisedGradients, slotSum, slotSumOfRest } from "../../base/gradients/quantised-gradients.ts";
import type { GrowingNode } from "../../gbdt/tree/grow.ts";
import type { CandidateRows } from "../../scheme/candidates/candidate-rows.ts";
import { categorySums } from "../../scheme/candidates/category-group.ts";

/** Sums of limbs are rounded above 2^53, and so are their bounds. */
const limbedSlack = 2 ** -50;

export class BelievableSums {
  readonly #limbs: number;
  /** Per slot the smallest and the largest gradient of the sample. */
  readonly #ranges: readonly { readonly least: number; readonly most: number }[];

  /** @param sample the instances that a tree is trained on; null: all */
  constructor({ columns, grids, instanceCount }: QuantisedGradients, sample: Uint32Array | null) {
    const limbs = (this.#limbs = columns.length / grids.length);
    const count = sample?.length ?? instanceCount;
    this.#ranges = grids.map((_, slot) => {
      if (limbs === 1 && sample === null) return rangeOf(columns[slot]);
      const high = limbs === 1 ? columns[slot] : columns[2 * slot];
      let [least, most] = [Infinity, -Infinity];
      for (let i = 0; i < count; i++) {
        const instance = sample === null ? i : sample[i];
        const value = limbs === 1 ? high[instance] : high[instance] * highLimb + columns[2 * slot + 1][instance];
        if (value < least) least = value;
        if (value > most) most = value;
      }
      return { least, most };
    });
  }

  /** @returns what is wrong with a node's candidates; null: nothing */
  fault(ofPeer: CandidateRows, { totals }: Pick<GrowingNode, "totals">): string | null {
    const stride = totals.length;
    const { rows } = ofPeer;
    const all = totals[stride - 1];
    for (let row = 0; row < rows.length; row += stride) {
      const count = rows[row + stride - 1];
      if (count < 0 || count > all) return "a candidate with more instances than its node";
      for (const [slot, { least, most }] of this.#ranges.entries()) {
        const isPossible =
          this.#isWithin(slotSum(rows, row, slot, this.#limbs), count, least, most) &&
          this.#isWithin(slotSumOfRest(totals, rows, row, slot, this.#limbs), all - count, least, most);
        if (!isPossible) return "a sum that this number of instances of the node cannot have";
      }
    }
    return this.#groupFault(ofPeer, totals);
  }

  /** Each instance of a node is in one category of each feature, which may be suppressed. */
  #groupFault(ofPeer: CandidateRows, totals: Float64Array): string | null {
    const last = totals.length - 1;
    for (const { sum, suppressed } of categorySums(ofPeer, totals)) {
      const rest = totals[last] - sum[last];
      const fits = this.#ranges.every(({ least, most }, slot) =>
        this.#isWithin(slotSumOfRest(totals, sum, 0, slot, this.#limbs), rest, least, most),
      );
      if (rest < 0 || !fits || (rest > 0 && !suppressed.includes(1)))
        return "categories that do not add up to the node";
    }
    return null;
  }

  /** The sum over no instance is 0. */
  #isWithin(sum: number, count: number, least: number, most: number): boolean {
    const slack = this.#limbs === 1 ? 0 : limbedSlack * count * Math.max(Math.abs(least), Math.abs(most));
    return sum >= count * least - slack && sum <= count * most + slack;
  }
}

/** Without sampling: a loop without a branch per instance. */
function rangeOf(column: Float64Array): { readonly least: number; readonly most: number } {
  let least = Infinity;
  let most = -Infinity;
  for (let i = 0; i < column.length; i++) {
    const value = column[i];
    if (value < least) least = value;
    if (value > most) most = value;
  }
  return { least, most };
}
