/**
 * What moves a model's scores: the mean size of SHAP values over the people who were explained last. Own features by
 * name, the features of another party together.
 *
 * Runs in browsers too.
 */
import * as z from "zod/mini";
import type { Immutable } from "../base/immutable.ts";
import { finite, formatCount } from "../base/text/format.ts";
import { count, flag, number, text } from "./fields.ts";

const contributionMean = z.object({
  /** A feature's name if it is the viewer's own, otherwise null: the party's as a whole. */
  feature: z.nullable(text),
  party: text,
  /** The mean of the values' sizes, in the margin's unit; of several classes summed up over them. */
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

/** Means that are drawn; the table has all. */
export const meansDrawn = 30;

export interface ContributionBar extends ContributionMean {
  readonly name: string;
  /** Of the longest bar. */
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

/** Whom the means are over, and what they are means of. */
export function contributionWords({ people, outputs, isByParty }: ContributionSummary): string {
  const of = people === 1 ? "one person" : `${formatCount(people)} people`;
  const classes = outputs > 1 ? `, summed up over ${outputs} classes` : "";
  const players = isByParty ? ". Each passive party counts as one feature" : "";
  return `Mean size of SHAP values over the ${of} who were explained last, in the margin's unit${classes}${players}.`;
}
