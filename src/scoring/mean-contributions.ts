/** The mean absolute SHAP value per column over explained instances, for the job's record. */
import type { ContributionSummary } from "../record/contribution-facts.ts";
import { appendOwn } from "../record/append-own.ts";
import type { ActiveShare } from "../store/share-files.ts";

/**
 * @param features the own features that have a column each; a column per passive party and the bias stand behind them
 * @param values per row and output
 * @param rows those that count
 */
export function meanContributions(
  { name, passiveNames, outputCount = 1 }: Pick<ActiveShare, "name" | "passiveNames" | "outputCount">,
  features: readonly string[],
  values: Float64Array,
  rows: ArrayLike<number> & Iterable<number>,
  isByParty: boolean,
): ContributionSummary {
  const columns = [
    ...features.map((feature) => ({ feature, party: name })),
    ...passiveNames.map((party) => ({ feature: null, party })),
  ];
  const width = columns.length + 1;
  const sums = new Float64Array(columns.length);
  for (const row of rows)
    for (let k = 0; k < outputCount; k++)
      for (let c = 0; c < columns.length; c++) sums[c] += Math.abs(values[(row * outputCount + k) * width + c]);
  return {
    people: rows.length,
    outputs: outputCount,
    isByParty,
    means: columns.map((column, c) => ({ ...column, mean: sums[c] / Math.max(1, rows.length) })),
  };
}

/** A model need not be in a job's folder. */
export function keepContributions(folder: string, summary: ContributionSummary): void {
  appendOwn(folder, { kind: "contributions", summary });
}
