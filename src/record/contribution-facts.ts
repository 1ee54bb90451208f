/**
 * Which features change a model's scores most: the mean absolute SHAP values over the instances explained last. Own
 * features are listed by name, the features of another party as one.
 *
 * Runs in browsers too.
 */
import * as z from "zod/mini";
import type { Immutable } from "../base/immutable.ts";
import { finite, formatCount } from "../base/text/format.ts";
import { count, flag, number, text } from "./fields.ts";

const contributionMean = z.object({
  /** A feature's name if it is the viewer's own; null: all features of the party. */
  feature: z.nullable(text),
  party: text,
  /** Mean absolute SHAP value, in the margin's unit; summed over classes. */
  mean: number,
});

export const contributionSummary = z.object({
  people: count,
  outputs: count,
  /** Each passive party counted as one feature. */
  isByParty: flag,
  means: z.array(contributionMean),
});

export type ContributionMean = Immutable<z.infer<typeof contributionMean>>;
export type ContributionSummary = Immutable<z.infer<typeof contributionSummary>>;

export interface ContributionBar extends ContributionMean {
  readonly name: string;
  /** Length relative to the longest bar. */
  readonly part: number;
  readonly words: string;
}

/** The largest first. */
export function contributionBars({ means }: ContributionSummary): ContributionBar[] {
  const sizes = means.map((row) => ({ ...row, mean: Math.max(0, finite(row.mean)) }));
  const longest = Math.max(...sizes.map(({ mean }) => mean), 0) || 1;
  return sizes
    .toSorted((a, b) => b.mean - a.mean)
    .map((row) => ({
      ...row,
      name: row.feature ?? `all features of ${row.party}`,
      part: row.mean / longest,
      words: row.mean === 0 ? "0" : String(Number(row.mean.toPrecision(3))),
    }));
}

/** What the means are, and over how many people. */
export function contributionWords({ people, outputs, isByParty }: ContributionSummary): string {
  const of = people === 1 ? "one person" : `${formatCount(people)} people`;
  const classes = outputs > 1 ? `, summed over ${outputs} classes` : "";
  const players = isByParty ? ". Each passive party counts as one feature" : "";
  return `Mean size of SHAP values over the ${of} who were explained last, in the margin's unit${classes}${players}.`;
}
