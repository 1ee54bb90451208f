/**
 * How far scores and own features of the people who are scored have moved from those of the training: a stability index
 * each. Only the party itself sees it.
 *
 * Runs in browsers too.
 */
import * as z from "zod/mini";
import type { Immutable } from "../base/immutable.ts";
import { stabilityBounds, stabilityOf, type Stability } from "../base/statistics/stability-index.ts";
import { formatCount } from "../base/text/format.ts";
import { count, instant, number, text } from "./fields.ts";

const driftItem = z.object({
  of: z.enum(["score", "feature"]),
  /** The feature, or the number of a prediction. */
  name: text,
  index: number,
});

export const driftSummary = z.object({
  at: instant,
  /** The latest people who were scored, repeats counted. */
  people: count,
  items: z.array(driftItem),
});

export type DriftItem = Immutable<z.infer<typeof driftItem>>;
export type DriftSummary = Immutable<z.infer<typeof driftSummary>>;

/** With fewer people the index moves by chance alone. */
export const driftPeopleMin = 400;

/** The largest first. */
export function driftRows({
  items,
}: DriftSummary): { readonly name: string; readonly index: number; level: Stability }[] {
  return items
    .toSorted((a, b) => b.index - a.index)
    .map(({ of, name, index }) => ({
      name: of === "score" ? `score${name === "" ? "" : ` ${name}`}` : name,
      index,
      level: stabilityOf(index),
    }));
}

export function levelCounts({ items }: DriftSummary): Record<Stability, number> {
  const counts = { stable: 0, moderate: 0, large: 0 };
  for (const { index } of items) counts[stabilityOf(index)]++;
  return counts;
}

export function driftWords({ people }: DriftSummary): string {
  const { moderate, large } = stabilityBounds;
  return (
    `Stability index of the ${formatCount(people)} people who were scored last against those of the training: ` +
    `below ${moderate} there is no change to speak of, from ${large} on it is large.`
  );
}
