/** How a party's rows that are in a job differ from its other rows, column by column. */
import { stabilityIndex } from "../../base/statistics/stability-index.ts";
import { selectFloat32 } from "../../base/rows/row-numbers.ts";
import { categoryNamesPerFeature, type PartyTable } from "../../data/dataset.ts";
import type { BinnedFeature } from "../../gbdt/split/binning.ts";
import { columnLoops } from "../../gbdt/split/column-loops.ts";

/** Fewer other rows are not compared: an index of few people says little, and much about each. */
export const otherRowsMin = 100;

/** A table, and the rows of it that a job has. */
export interface RowsOfTable {
  readonly table: PartyTable;
  readonly rows: Uint32Array;
}

/**
 * The stability index per feature between the other rows and those of the job, over the job's bins; missing values and
 * categories that the job does not have are bins of their own. Rounded, and null where there are few other rows.
 * @param features of the job's rows, in the order of the table's columns
 */
export function stabilityOfOthers(features: readonly BinnedFeature[], { table, rows }: RowsOfTable): (number | null)[] {
  const isUsed = new Uint8Array(table.ids.length);
  for (const row of rows) isUsed[row] = 1;
  const others = Uint32Array.from(isUsed.keys()).filter((row) => isUsed[row] === 0);
  if (others.length < otherRowsMin) return features.map(() => null);
  const names = categoryNamesPerFeature(table);
  return features.map((feature, i) => {
    const bins = binsOf(feature, selectFloat32(table.features[i], others), names[i]);
    return rounded(stabilityIndex(counted(feature, bins), counted(feature, feature.bins)));
  });
}

/** The bin of each value: of a number beyond all bins the last one. */
function binsOf(feature: BinnedFeature, values: Float32Array, names: readonly string[] | null): Uint16Array {
  const { binCount, thresholds, categories } = feature;
  const bins = new Uint16Array(values.length);
  if (categories === undefined) {
    columnLoops().binValues(values, thresholds, bins);
    return bins.map((bin) => (bin > binCount ? binCount - 1 : bin));
  }
  const binOf = new Map(categories.map((category, bin) => [category, bin]));
  return Uint16Array.from(values, (code) =>
    Number.isNaN(code) ? binCount : (binOf.get(names?.[code] ?? "") ?? binCount + 1),
  );
}

/** Missing values and unknown categories are last. */
function counted({ binCount }: BinnedFeature, bins: Uint16Array): Float64Array {
  const counts = new Float64Array(binCount + 2);
  for (const bin of bins) counts[bin]++;
  return counts;
}

function rounded(index: number): number | null {
  return Number.isFinite(index) ? Math.round(index * 1000) / 1000 : null;
}
