/**
 * Quantile bins of one feature, the way XGBoost's `hist` makes them.
 *
 * Bin b holds thresholds[b-1] <= x < thresholds[b], in float32. A split at bin b sends x < thresholds[b] to the left.
 * Missing values (NaN) have the bin index `binCount`, after all others.
 *
 * With at most max_bin distinct values every distinct value is its own bin. Otherwise the cuts are data values chosen
 * from a quantile summary pruned to max_bin + 1 entries, as in XGBoost 1.7, src/common/quantile.{h,cc} (SetPrune and
 * AddCutPoint). Up to 8 * max_bin distinct values XGBoost's summary is exact and the cuts are the same as ours. Beyond
 * that XGBoost approximates ranks with a streaming sketch (error up to n / (8 max_bin), dependent on row order). Ours
 * stay exact, unless `bin_cuts: xgboost` asks for the sketch (quantile-sketch.ts).
 */
import { assert } from "../../base/assert.ts";
import { selectFloat32 } from "../../base/rows/row-numbers.ts";
import { binIn, columnLoops } from "./column-loops.ts";
import { type ColumnSummary, countedSummary } from "./counted-cuts.ts";
import { sketchedSummary } from "./quantile-sketch.ts";

export interface BinnedFeature {
  readonly name: string;
  /** Upper bound (exclusive) of each bin, ascending; its length is binCount. Empty for a categorical feature. */
  readonly thresholds: Float32Array;
  /** Categorical features (gbdt/split/category-binning.ts): the category of each bin. */
  readonly categories?: readonly string[];
  /** Categorical features: one category is split off at a time; otherwise sets of them are. */
  readonly oneHot?: boolean;
  /** A threshold below all values, as XGBoost takes it (MinValues). */
  readonly lowest: number;
  /** Bins of present values; at least 1. */
  readonly binCount: number;
  readonly hasMissing: boolean;
  /** Candidates that send missing values left are last, from the highest threshold down: XGBoost's order. */
  readonly missingLeftLast?: boolean;
  /** 1: a larger value must not lower the prediction; -1: must not raise it; 0 or left out: no constraint. */
  readonly monotone?: number;
  /** Interaction groups of the feature, as bits (interactions.ts); left out: the job has none. */
  readonly groups?: number;
  /**
   * Per instance; `binCount` if the value is missing, `binCount` + 1 if it is above all thresholds and so goes right at
   * every split, or is an unknown category and so goes left. The latter two occur only in rows that are not trained on.
   */
  readonly bins: Uint16Array;
}

/** Distinct values in ascending order; value i covers the ranks from rankMax[i - 1] to rankMax[i]. */
interface Summary {
  readonly values: Float32Array;
  readonly rankMax: Uint32Array;
}

const smallest = Math.fround(1e-5);
/** Longer columns are counted instead of sorted. */
const countedFrom = 1 << 18;
/** Prefixes of keys that are counted. */
const countedSizeMax = 514;

/** Bins of a histogram: those of present values, and one more if the feature has missing values. */
export function totalBinCount(feature: BinnedFeature): number {
  return feature.binCount + (feature.hasMissing ? 1 : 0);
}

/** All bin indices that an instance may have: also those of missing values, and of values beyond all bins. */
export function binIndexCount({ binCount }: Pick<BinnedFeature, "binCount">): number {
  return binCount + 2;
}

/**
 * Cuts `values` (NaN = missing, otherwise finite) into at most `maxBin` bins. Deterministic.
 * @param training the rows that determine the cuts; null: all
 * @param sketched cut where XGBoost's sketch cuts these rows in this order (quantile-sketch.ts), with its order of ties
 */
export function binFeature(
  name: string,
  values: Float32Array,
  maxBin: number,
  training: Uint32Array | null = null,
  sketched = false,
): BinnedFeature {
  assert(Number.isInteger(maxBin) && maxBin >= 2 && maxBin < 65535, `maxBin ${maxBin} is out of range`);
  const deciding = training === null ? values : selectFloat32(values, training);
  const summary = sketched ? sketchedSummary(deciding, maxBin) : columnSummary(deciding, maxBin + 1);
  const { presentCount, smallest: first, values: kept } = summary;
  const thresholds = chooseThresholds(kept, maxBin);
  const bins = new Uint16Array(values.length);
  columnLoops().binValues(values, thresholds, bins);
  const lowest = presentCount === 0 ? -smallest : Math.fround(first - (Math.abs(first) + smallest));
  const hasMissing = presentCount < deciding.length;
  const order = sketched && hasMissing ? { missingLeftLast: true } : {};
  return { name, thresholds, lowest, binCount: thresholds.length, hasMissing, ...order, bins };
}

/**
 * The bin of a value that need not have been in the training data; `binCount` for NaN. A value at or above the last
 * threshold is counted in the last bin: good for histograms only, prediction compares with thresholds.
 */
export function binOf(feature: BinnedFeature, x: number): number {
  return binIn(feature.thresholds, Math.fround(x));
}

/** Counts a long column and sorts a short one: counting needs the same memory for any length. */
function columnSummary(values: Float32Array, sizeMax: number): ColumnSummary {
  if (values.length >= countedFrom && sizeMax <= countedSizeMax) return countedSummary(() => [values], sizeMax);
  return sortedSummary(values, sizeMax);
}

/** The oracle of counted-cuts.ts. */
export function sortedSummary(values: Float32Array, sizeMax: number): ColumnSummary {
  const present = sortedPresent(values);
  const kept = present.length === 0 ? present : prune(summarise(present), sizeMax);
  return { rowCount: values.length, presentCount: present.length, smallest: present[0] ?? NaN, values: kept };
}

function sortedPresent(values: Float32Array): Float32Array {
  const present = new Float32Array(values.length);
  let count = 0;
  for (let i = 0; i < values.length; i++) {
    const x = values[i];
    if (Number.isNaN(x)) continue;
    assert(Number.isFinite(x), "a feature value is infinite");
    present[count++] = x + 0; // -0 becomes 0, so that a threshold survives any text format
  }
  return present.subarray(0, count).sort();
}

function summarise(sorted: Float32Array): Summary {
  const isLast = (i: number): boolean => i + 1 === sorted.length || sorted[i] !== sorted[i + 1];
  let count = 0;
  for (let i = 0; i < sorted.length; i++) if (isLast(i)) count++;
  const values = new Float32Array(count);
  const rankMax = new Uint32Array(count);
  for (let i = 0, at = 0; i < sorted.length; i++) {
    if (!isLast(i)) continue;
    values[at] = sorted[i];
    rankMax[at++] = i + 1;
  }
  return { values, rankMax };
}

/** AddCutPoint: all summary entries but the first are cuts, and one value above the maximum closes the last bin. */
function chooseThresholds(values: Float32Array, maxBin: number): Float32Array {
  if (values.length === 0) return Float32Array.of(closingThreshold(smallest)); // all missing: one empty bin
  const cutCount = Math.min(values.length, maxBin);
  const thresholds = new Float32Array(cutCount);
  thresholds.set(values.subarray(1, cutCount));
  thresholds[cutCount - 1] = closingThreshold(values[values.length - 1]);
  return thresholds;
}

/** XGBoost's bound above the largest value: its `fabs` is the double one, so there is one rounding, at the end. */
function closingThreshold(max: number): number {
  return Math.fround(max + (Math.abs(max) + smallest));
}

/**
 * WQSummary::SetPrune: keeps the first, the last and, for each of `sizeMax` - 1 equal steps of rank, the nearest value.
 * Ranks are rounded to float32 as in XGBoost, so that near-ties go the same way.
 */
function prune({ values, rankMax }: Summary, sizeMax: number): Float32Array {
  const last = values.length - 1;
  if (last < sizeMax) return values;
  const begin = rankMax[0];
  const range = Math.fround(rankMax[last - 1] - begin);
  const stepCount = sizeMax - 1;
  const kept = [0];
  let i = 1;
  for (let k = 1; k < stepCount; k++) {
    const rank = Math.fround(Math.fround(Math.fround(k * range) / stepCount) + begin);
    while (i < last && 2 * rank >= rankMax[i + 1] + rankMax[i]) i++;
    if (i === last) break;
    const nearest = rank < rankMax[i] ? i : i + 1;
    if (nearest !== kept[kept.length - 1]) kept.push(nearest);
  }
  if (kept[kept.length - 1] !== last) kept.push(last);
  return Float32Array.from(kept, (entry) => values[entry]);
}
