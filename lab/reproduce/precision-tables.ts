/** Tables of the precision of sums: errors against the paper's bound, and the second trade-off (sec. III-C). */
import { count, percent, scientific } from "./figures-in-words.ts";
import { plainColumns, type ResultTable } from "./outcome.ts";
import { paperAlpha, paperShift } from "./paper.ts";
import type { PaperDataset } from "../trials/paper-datasets.ts";
import type { SumErrors } from "./precision-sums.ts";

export function errorTable(rows: readonly SumErrors[], instanceCount: number): ResultTable {
  return {
    name: "precision-errors",
    title: `Error of the sum of all ${count(instanceCount)} gradients against the paper's bound`,
    columns: [
      ...plainColumns("alpha_max", "r", "step", "largest n"),
      ...["paper's bound", "to nearest", "of the bound", "stochastic"].map((title) => ({
        group: "error of the sum",
        title,
      })),
      { group: "", title: "worst bin, of its bound" },
    ],
    rows: rows.map((row) => [
      scientific(row.alphaMax),
      String(row.r),
      scientific(row.resolution),
      count(row.countMax),
      scientific(row.bound),
      scientific(row.error.nearest),
      percent(row.error.nearest / row.bound),
      scientific(row.error.stochastic),
      percent(row.worstFractionOfBound),
    ]),
    notes: [
      `s = ${paperShift}, alpha = ${paperAlpha}. ` +
        "Errors are the largest of g and h over the first, a middle and the last tree. " +
        '"Largest n" is the number of values for which the slot is proven. Bins are those of a root\'s histogram.',
    ],
  };
}

export function alphaTable(rows: readonly SumErrors[], dataset: PaperDataset): ResultTable {
  return {
    name: "precision-alpha",
    title: "The second trade-off: a smaller alpha allows more values and truncates some",
    columns: plainColumns("alpha", "largest n", "paper's bound", "error to nearest", "of the bound"),
    rows: rows.map((row) => [
      String(row.alpha),
      count(row.countMax),
      scientific(row.bound),
      scientific(row.error.nearest),
      percent(row.error.nearest / row.bound),
    ]),
    notes: [
      `alpha_max = ${scientific(dataset.alphaMax)}, r = ${dataset.r}. ` +
        'The paper says "decreasing alpha_max" for both trade-offs. ' +
        "What it describes as the second is decreasing alpha: more values, and a larger truncation error.",
    ],
  };
}
