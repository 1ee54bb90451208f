/** The mean absolute SHAP value per column over explained instances, for the job's record. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { JsonLinesFile } from "../base/files/json-lines.ts";
import type { ContributionSummary } from "../record/contribution-facts.ts";
import { ownFileName } from "../record/job-record.ts";
import type { OwnLine } from "../record/own-lines.ts";
import type { ActiveShare } from "../store/share-files.ts";

const recordBytesMax = 64 << 20;

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

/** A model need not be in a job's folder, and a record that cannot be written must not fail scoring. */
export function keepContributions(folder: string, summary: ContributionSummary): void {
  const path = join(folder, ownFileName);
  if (!existsSync(path)) return;
  try {
    const file = new JsonLinesFile(path, recordBytesMax);
    file.append({ kind: "contributions", summary } satisfies OwnLine);
    file.close();
  } catch {
    // The page and the report show the earlier values.
  }
}
