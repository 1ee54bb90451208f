/**
 * Integer histograms. A row holds the sums of all columns of the gradients (one or two per slot) followed by the count
 * of instances; rows are consecutive in a Float64Array. Every sum is an integer below 2^53, so addition and subtraction
 * are exact in any order.
 */
import { assert } from "../../base/assert.ts";
import type { QuantisedGradients } from "../../base/gradients/quantised-gradients.ts";
import { rowLoops } from "../../base/rows/row-loops.ts";
import { candidateCount, hasMirrored, thresholdIndex } from "./candidate.ts";
import { type CategoricalFeature, categoryCandidates, isCategorical, rightBins } from "./category-candidate.ts";
import { totalBinCount, type BinnedFeature } from "./binning.ts";

/** Numbers per row: the sums, and the count last. */
export function rowStride(columnCount: number): number {
  return columnCount + 1;
}

/** One row: the sums and the count over `instances`. */
export function nodeTotals(gradients: QuantisedGradients, instances: Uint32Array): Float64Array {
  const columnCount = gradients.columns.length;
  const totals = new Float64Array(rowStride(columnCount));
  totals.set(rowLoops().sums(gradients.columns, instances));
  for (const sum of totals) assert(Math.abs(sum) <= Number.MAX_SAFE_INTEGER, "a column's sum is exact");
  totals[columnCount] = instances.length;
  return totals;
}

/** One row per bin, the missing bin (if the feature has one) last. */
export function featureHistogram(
  feature: BinnedFeature,
  gradients: QuantisedGradients,
  instances: Uint32Array,
): Float64Array {
  const columnCount = gradients.columns.length;
  const stride = rowStride(columnCount);
  const histogram = new Float64Array(totalBinCount(feature) * stride);
  const { bins } = feature;
  if (columnCount === 2) {
    // One output, the usual case: one pass instead of three.
    const [g, h] = gradients.columns;
    for (let i = 0; i < instances.length; i++) {
      const instance = instances[i];
      const row = bins[instance] * 3;
      histogram[row] += g[instance];
      histogram[row + 1] += h[instance];
      histogram[row + 2]++;
    }
    return histogram;
  }
  for (let column = 0; column < columnCount; column++) {
    const values = gradients.columns[column];
    for (let i = 0; i < instances.length; i++) {
      const instance = instances[i];
      histogram[bins[instance] * stride + column] += values[instance];
    }
  }
  for (let i = 0; i < instances.length; i++) histogram[bins[instances[i]] * stride + columnCount]++;
  return histogram;
}

/** The sibling: parent minus child, exact. Works on histograms, on rows and on candidate sums alike. */
export function subtractRows(parent: Float64Array, child: Float64Array): Float64Array {
  assert(parent.length === child.length, "rows of different shape");
  const sibling = new Float64Array(parent.length);
  for (let i = 0; i < parent.length; i++) sibling[i] = parent[i] - child[i];
  return sibling;
}

/** Adds a row to another, exactly. */
export function addRow(sum: Float64Array, row: Float64Array): void {
  assert(sum.length === row.length, "rows of different shape");
  for (let k = 0; k < sum.length; k++) sum[k] += row[k];
}

/** One row per candidate, in the order of candidatesOf: the sums of the LEFT side. */
export function leftSums(feature: BinnedFeature, histogram: Float64Array): Float64Array {
  const stride = histogram.length / totalBinCount(feature);
  assert(Number.isInteger(stride), "the histogram is not of this feature");
  if (isCategorical(feature)) return leftCategorySums(feature, histogram, stride);
  const { binCount, hasMissing } = feature;
  const sums = new Float64Array(candidateCount(feature) * stride);
  const prefix = new Float64Array(stride);
  const missing = binCount * stride;
  const placeOf = (bin: number, missingLeft: boolean): number => stride * thresholdIndex(feature, bin, missingLeft);
  const binsTried = hasMissing ? binCount : binCount - 1;
  for (let bin = 0; bin < binsTried; bin++) {
    for (let k = 0; k < stride; k++) prefix[k] += histogram[bin * stride + k];
    sums.set(prefix, placeOf(bin, false));
    if (!hasMissing || bin === binCount - 1) continue;
    const at = placeOf(bin, true);
    for (let k = 0; k < stride; k++) sums[at + k] = prefix[k] + histogram[missing + k];
  }
  if (hasMirrored(feature)) sums.set(histogram.subarray(missing, missing + stride), placeOf(-1, true));
  return sums;
}

/** All bins except those that a candidate splits off. */
function leftCategorySums(feature: CategoricalFeature, histogram: Float64Array, stride: number): Float64Array {
  const binRow = (bin: number): Float64Array => histogram.subarray(bin * stride, (bin + 1) * stride);
  const total = new Float64Array(stride);
  for (let bin = 0; bin < totalBinCount(feature); bin++) addRow(total, binRow(bin));
  const candidates = categoryCandidates(feature);
  const sums = new Float64Array(candidates.length * stride);
  candidates.forEach((candidate, i) => {
    const right = new Float64Array(stride);
    for (const bin of rightBins(feature, candidate)) addRow(right, binRow(bin));
    sums.set(subtractRows(total, right), i * stride);
  });
  return sums;
}
