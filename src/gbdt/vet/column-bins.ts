/**
 * The bins of a vetted column, from the sums of its candidates (gbdt/split/candidate.ts). Candidates of a number are
 * sums below a threshold, and their differences are bins; candidates of categories are bins themselves. Where a
 * candidate is suppressed, the bins on either side of it are one.
 */
import type { BinnedFeature } from "../split/binning.ts";
import { candidateCount } from "../split/candidate.ts";

/** What is known of a column besides its sums. */
export interface ColumnShape {
  readonly categorical: boolean;
  /** Without that of missing values. */
  readonly binCount: number;
  readonly hasMissing: boolean;
}

/** People and, among them, those with label 1. */
export interface ClassSums {
  readonly people: number;
  readonly events: number;
}

/** A bin, or several that cannot be distinguished. */
export interface ColumnBin extends ClassSums {
  /** The first and the last bin of a number; of categories all of them; empty for missing values alone. */
  readonly bins: readonly number[];
  /** The missing values are in it. */
  readonly hasMissing: boolean;
  /** The sums of candidates that it is computed from: others come from the total, which has no noise. */
  readonly parts: readonly SignedSum[];
}

export interface SignedSum {
  readonly candidate: number;
  readonly sign: 1 | -1;
}

export function shapeOf({ categories, binCount, hasMissing }: BinnedFeature): ColumnShape {
  return { categorical: categories !== undefined, binCount, hasMissing };
}

/** A number with thresholds, as a column of this shape has candidates. */
/** Candidates of a vetted column are in one order, and nothing is split: constraints are left out. */
export function vettedFeature({
  monotone: _monotone,
  groups: _groups,
  missingLeftLast: _order,
  ...feature
}: BinnedFeature): BinnedFeature {
  return feature;
}

export function shapeCandidates({ categorical, binCount, hasMissing }: ColumnShape): number {
  return candidateCount(featureOf(categorical, binCount, hasMissing));
}

/** Whether its candidates come in a group: one for each category, and one for missing values. */
export function isGroup({ categorical, binCount }: ColumnShape): boolean {
  return categorical && binCount > 1;
}

/**
 * @param summed per candidate the sums of the vetted side: of a number those below the threshold, missing values right;
 * of a category its own. Null: it is suppressed
 */
export function columnBins(
  shape: ColumnShape,
  summed: (candidate: number) => ClassSums | null,
  total: ClassSums,
): ColumnBin[] {
  return shape.categorical ? categoryBins(shape, summed, total) : numberBins(shape, summed, total);
}

function numberBins(
  { binCount, hasMissing }: ColumnShape,
  summed: (candidate: number) => ClassSums | null,
  total: ClassSums,
): ColumnBin[] {
  const found: ColumnBin[] = [];
  const cuts = hasMissing ? binCount : binCount - 1;
  let [first, before] = [0, none];
  let taken: readonly SignedSum[] = [];
  for (let bin = 0; bin < cuts; bin++) {
    const candidate = hasMissing ? 2 * bin : bin;
    const below = summed(candidate);
    if (below === null) continue;
    const parts = [{ candidate, sign: 1 } as const, ...taken];
    found.push({ bins: [first, bin], hasMissing: false, parts, ...minus(below, before) });
    [first, before] = [bin + 1, below];
    taken = [{ candidate, sign: -1 }];
  }
  const bins = first < binCount ? [first, binCount - 1] : [];
  found.push({ bins, hasMissing, parts: taken, ...minus(total, before) });
  return found;
}

function categoryBins(
  { binCount, hasMissing }: ColumnShape,
  summed: (candidate: number) => ClassSums | null,
  total: ClassSums,
): ColumnBin[] {
  const found: ColumnBin[] = [];
  const rest: number[] = [];
  const taken: SignedSum[] = [];
  let restSums = total;
  const take = (candidate: number, bins: readonly number[], isMissing: boolean, sums: ClassSums): void => {
    found.push({ bins, hasMissing: isMissing, parts: [{ candidate, sign: 1 }], ...sums });
    taken.push({ candidate, sign: -1 });
    restSums = minus(restSums, sums);
  };
  // A single category has a candidate only if values are missing, and these are the rest.
  const shown = binCount > 1 || hasMissing ? binCount : 0;
  for (let category = 0; category < binCount; category++) {
    const sums = category < shown ? summed(category) : null;
    if (sums === null) rest.push(category);
    else take(category, [category], false, sums);
  }
  let missingIsShown = false;
  if (hasMissing && binCount > 1) {
    const sums = summed(binCount);
    missingIsShown = sums !== null;
    if (sums !== null) take(binCount, [], true, sums);
  }
  const restHasMissing = hasMissing && !missingIsShown;
  if (rest.length > 0 || restHasMissing)
    found.push({ bins: rest, hasMissing: restHasMissing, parts: taken, ...restSums });
  return found;
}

const none: ClassSums = { people: 0, events: 0 };

function minus(a: ClassSums, b: ClassSums): ClassSums {
  return { people: a.people - b.people, events: a.events - b.events };
}

function featureOf(categorical: boolean, binCount: number, hasMissing: boolean): BinnedFeature {
  return {
    name: "",
    thresholds: new Float32Array(0),
    lowest: 0,
    binCount,
    hasMissing,
    bins: new Uint16Array(0),
    ...(categorical ? { categories: [], oneHot: binCount < oneHotBelow } : {}),
  };
}

/** `max_cat_to_onehot` of a vetting: a single category is compared with missing values. */
export const oneHotBelow = 2;
