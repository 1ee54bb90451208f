/**
 * The gradients of a vetting, what their sums say, and the vetting of columns in one place: the oracle of the federated
 * one. g is 1 for label 1 and 0 for label 0, h is 1 for everyone: their sums count events and people.
 */
import { type QuantisedGradients, realSum, slotSum } from "../../base/gradients/quantised-gradients.ts";
import type { RealGradients } from "../../base/gradients/real-gradients.ts";
import type { Membership } from "../../base/membership.ts";
import { everyRow } from "../../base/rows/row-loops.ts";
import type { BinnedFeature } from "../split/binning.ts";
import { type Candidate, candidatesOf } from "../split/candidate.ts";
import { isCategorical } from "../split/category-candidate.ts";
import { featureHistogram, leftSums, nodeTotals, rowStride, subtractRows } from "../split/histogram.ts";
import { membershipRules } from "../split/membership-rules.ts";
import { areOff, type Minimums, noMinimums, OfferedCandidates } from "../split/offered-candidates.ts";
import { addNoise, TreeNoise } from "../split/tree-noise.ts";
import { type ClassSums, type ColumnBin, columnBins, shapeOf, vettedFeature } from "./column-bins.ts";
import type { SumNoise } from "./column-figures.ts";

const rootId = 0;

export function vettingGradients(labels: Float64Array): RealGradients {
  const unit = { min: 0, max: 1 };
  return { values: [labels, new Float64Array(labels.length).fill(1)], bounds: [unit, unit] };
}

/** The same without a scheme: whole numbers. */
export function exactCounts(labels: Float64Array): QuantisedGradients {
  const grid = { shift: 0, resolution: 1 };
  return { instanceCount: labels.length, grids: [grid, grid], columns: [...vettingGradients(labels).values] };
}

/** Reads the rows of candidates and totals: slot sums, and the count last. */
export class VettedSums {
  readonly total: ClassSums;
  /** Of each sum of another party; null: sums are exact. */
  readonly noise: SumNoise | null;
  readonly #gradients: QuantisedGradients;
  readonly #limbs: number;

  constructor(gradients: QuantisedGradients) {
    this.#gradients = gradients;
    this.#limbs = gradients.columns.length / gradients.grids.length;
    this.total = this.at(this.totals, 0, gradients.instanceCount);
    const { noise } = gradients;
    const deviation = noise === undefined ? 0 : noise.sigma / noise.unit;
    this.noise = noise === undefined ? null : { events: deviation, people: deviation };
  }

  /** The row of all people. */
  get totals(): Float64Array {
    return nodeTotals(this.#gradients, everyRow(this.#gradients.instanceCount));
  }

  /** Numbers per row. */
  get stride(): number {
    return rowStride(this.#gradients.columns.length);
  }

  /** @param row index of the row @param count of its people, where g is shifted and so counts are known */
  at(rows: Float64Array, row: number, count: number): ClassSums {
    const offset = row * this.stride;
    const [events, people] = this.#gradients.grids.map((grid, slot) =>
      realSum(grid, slotSum(rows, offset, slot, this.#limbs), count),
    );
    return { events, people };
  }
}

/** How one party's sums are made; left out: nothing is held back, and there is no noise. */
export interface VettingRules {
  readonly minimums?: Minimums;
  readonly membership?: Membership;
  readonly noiseSecret?: Uint8Array | null;
}

/** The bins of one party's columns. */
export function vetColumns(
  columns: readonly BinnedFeature[],
  gradients: QuantisedGradients,
  { minimums: asked = noMinimums, membership = "sent", noiseSecret: secret = null }: VettingRules = {},
): ColumnBin[][] {
  const features = columns.map(vettedFeature);
  const sums = new VettedSums(gradients);
  const members = everyRow(gradients.instanceCount);
  const root = { id: rootId, members };
  const rules = membershipRules[membership];
  const { minimums, ever } = rules.offers(asked, features, () => members);
  const bins = features.map((feature) => feature.bins);
  const offered =
    areOff(minimums) && ever === null ? null : new OfferedCandidates(minimums, features, bins, root, null, ever);
  const { noise: scale } = gradients;
  const noise =
    secret === null || scale === undefined
      ? null
      : new TreeNoise({ secret, scale, slotCount: 2 }, features, 0, root, rules.noiseNames(0, true));
  const { stride } = sums;
  return features.map((feature, index) => {
    const left = leftSums(feature, featureHistogram(feature, gradients, members));
    if (noise !== null) addNoise(left, stride, noise.of(rootId, index), 1);
    const candidates = candidatesOf(feature);
    return columnBins(
      shapeOf(feature),
      (candidate) => {
        if (offered?.has(rootId, index, candidates[candidate]) === false) return null;
        const row = left.subarray(candidate * stride, (candidate + 1) * stride);
        const vetted = isSplitOff(feature, candidates[candidate]) ? subtractRows(sums.totals, row) : row;
        return sums.at(vetted, 0, vetted[stride - 1]);
      },
      sums.total,
    );
  });
}

/** Of categories the sums of the right side are vetted. */
function isSplitOff(feature: BinnedFeature, candidate: Candidate): boolean {
  return isCategorical(feature) && "categories" in candidate;
}
