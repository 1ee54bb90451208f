/**
 * How good a model is, as the party with the labels stores it for its report: statistics, never a row. Which figures
 * there are depends on the labels (docs/evaluation.md).
 *
 * Runs in browsers too.
 */
import * as z from "zod/mini";
import type { Immutable } from "../../base/immutable.ts";
import { curvesOf, type ScoreCurves } from "../../gbdt/evaluation/score-curves.ts";
import { count, flag, instant, number, text } from "../fields.ts";

/** Which rows: of the job, or of a file that was evaluated later. */
const part = z.enum(["training", "validation", "test", "new"]);
const orNull = z.nullable(number);
/** Without an interval low and high are null; an undefined value is null. */
const estimate = z.object({ name: text, value: orNull, low: orNull, high: orNull });
const counts = z.array(number);

const tenth = z.object({
  from: number,
  to: number,
  rows: count,
  weight: number,
  predicted: number,
  observed: number,
});

const twoClasses = z.object({
  kind: z.literal("binary"),
  /** The prediction above which the second class is the likelier. */
  cutOff: number,
  /** Sums of weights. */
  positives: number,
  negatives: number,
  /** [score, positives, negatives at or above it], the highest score first. */
  cutOffs: z.array(z.tuple([number, number, number])).check(z.minLength(1)),
  ksAt: z.object({ score: number, ks: number }),
  histogram: z.object({ min: number, max: number, negatives: counts, positives: counts }),
  /** By score; the lowest first. */
  tenths: z.array(tenth),
  /** By probability; null: the model has none. */
  calibration: z.nullable(z.array(tenth)),
});
const classes = z.object({
  kind: z.literal("classes"),
  classes: z.array(
    z.object({ label: count, rows: count, auc: orNull, precision: orNull, recall: orNull, brier: number }),
  ),
  /** Rows: the true class. Null: too many classes. */
  confusion: z.nullable(z.array(counts)),
});
const numbers = z.object({
  kind: z.literal("number"),
  /** By prediction; the lowest first. */
  tenths: z.array(tenth),
  /** [level, residual]. */
  residuals: z.array(z.tuple([number, number])),
});
const quantiles = z.object({
  kind: z.literal("quantile"),
  levels: z.array(z.object({ level: number, below: number, pinball: number })),
});
const survival = z.object({
  kind: z.literal("survival"),
  events: count,
  /** Risk groups, the lowest first. Empty: the baseline is not known. */
  horizons: z.array(
    z.object({ time: number, groups: z.array(z.object({ rows: count, predicted: number, observed: number })) }),
  ),
});
const ranking = z.object({
  kind: z.literal("ranking"),
  bySize: z.array(z.object({ from: count, to: z.nullable(count), groups: count, ndcg: number })),
});

export const evaluation = z.object({
  madeAt: instant,
  objective: text,
  /** The column of the labels, and its value that is label 1 where labels are words. Since 0.7. */
  label: z.exactOptional(z.object({ column: text, positive: z.exactOptional(text) })),
  /** Which rows the figures are about. */
  shown: part,
  parts: z
    .array(
      z.object({
        part,
        rows: count,
        /** Weighted mean of labels; null where that has no meaning. */
        meanLabel: orNull,
        estimates: z.array(estimate),
      }),
    )
    .check(z.minLength(1)),
  /** Rows per tenth of the first part's scores; null: a row has several scores. */
  stability: z.nullable(z.object({ bounds: counts, counts: z.array(z.object({ part, counts })) })),
  /** Against a model of the own columns alone, on the rows that are shown; null: none was trained. */
  federation: z.nullable(
    z.object({
      alone: estimate,
      /** Positive: the federated model is better. */
      gain: estimate,
      higherIsBetter: flag,
    }),
  ),
  bootstrap: z.object({ resamples: count, unitsMax: count, seed: text }),
  figures: z.discriminatedUnion("kind", [twoClasses, classes, numbers, quantiles, survival, ranking]),
});

export type ModelEvaluation = Immutable<z.infer<typeof evaluation>>;
export type EvaluationPart = Immutable<z.infer<typeof part>>;
export type EvaluationFigures = ModelEvaluation["figures"];
export type FiguresOf<K extends EvaluationFigures["kind"]> = Extract<EvaluationFigures, { readonly kind: K }>;
export type Estimated = Immutable<z.infer<typeof estimate>>;

/** Null: the labels are not two classes. */
export function scoreCurvesOf({ figures }: Pick<ModelEvaluation, "figures">): ScoreCurves | null {
  if (figures.kind !== "binary") return null;
  return curvesOf(figures.cutOffs, figures, figures.ksAt, figures.histogram);
}
