/**
 * The tables of a model of two classes: decisions at cut-offs, deciles, calibration, points, precision and recall.
 *
 * Runs in browsers too.
 */
import {
  atRate,
  atThreshold,
  cheapest,
  confusionAt,
  costOf,
  type CutOff,
  furthestApart,
  ratesOf,
} from "../../gbdt/evaluation/cut-offs.ts";
import { gainTable, wilsonInterval } from "../../gbdt/evaluation/rates.ts";
import { pointsOf } from "../../gbdt/evaluation/scorecard.ts";
import type { FiguresOf } from "./evaluation.ts";
import { chosenText } from "./facts.ts";
import { column, type EvaluationTable, figure, finite, percent, points, text, whole } from "./table.ts";
import type { EvaluationTerms } from "./terms.ts";

/** The tables of two classes. */
export function binaryTables(figures: FiguresOf<"binary">, terms: EvaluationTerms): EvaluationTable[] {
  const { calibration } = figures;
  return [
    decisionTable(figures, terms),
    decileTable(figures),
    ...(calibration === null ? [] : [calibrationTable(calibration), scorecardTable(calibration, terms)]),
    precisionRecallTable(figures),
  ];
}

function decisionTable(figures: FiguresOf<"binary">, { costs, rates, thresholds }: EvaluationTerms): EvaluationTable {
  const { cutOffs, cutOff } = figures;
  const rules: (readonly [string, CutOff])[] = [
    [`least cost: a miss costs ${costs.miss}, a false alarm ${costs.falseAlarm}`, cheapest(cutOffs, figures, costs)],
    ...rates.map((rate) => [`at most ${chosenText(100 * rate)}% flagged`, atRate(cutOffs, figures, rate)] as const),
    ["classes furthest apart (KS)", furthestApart(cutOffs, figures)],
    ...[cutOff, ...thresholds].map((at) => [`score from ${chosenText(at)} on`, atThreshold(cutOffs, at)] as const),
  ];
  return {
    name: "decisions",
    title: "Decisions at chosen cut-offs",
    about:
      "A score at or above the cut-off is flagged as label 1. TP, FP, FN, TN: true and false positives and " +
      "negatives. Precision: the part of the flagged rows that has label 1. Recall: the part of label 1 that is " +
      "flagged. FPR: the part of label 0 that is flagged. Cut-offs are chosen on these rows: expect slightly less on " +
      "others.",
    columns: [
      column("rule", text),
      column("cut-off", figure),
      column("flagged", percent),
      column("TP", whole),
      column("FP", whole),
      column("FN", whole),
      column("TN", whole),
      column("precision", percent),
      column("recall", percent),
      column("FPR", percent),
      column("accuracy", percent),
      column("F1", figure),
      column("cost per row", figure),
    ],
    rows: rules.map(([rule, cut]) => {
      const confusion = confusionAt(cut, figures);
      const { flagged, precision, recall, falsePositiveRate, accuracy, f1 } = ratesOf(confusion);
      const { score, tp, fp, fn, tn } = confusion;
      const cost = costOf(confusion, costs) / (figures.positives + figures.negatives);
      const known = [flagged, tp, fp, fn, tn, precision, recall, falsePositiveRate, accuracy, f1, cost];
      return [rule, Number.isFinite(score) ? score : "none flagged", ...known.map(finite)];
    }),
  };
}

function decileTable({ tenths }: FiguresOf<"binary">): EvaluationTable {
  return {
    name: "deciles",
    title: "Gain, lift and KS by decile",
    about:
      "Tenths of the rows, the highest scores first. Lift: the rate of label 1 over that of all rows, with Wilson's " +
      "95% interval of the rate. Gain: the part of all label 1 found so far. KS: distance between the parts of label " +
      "1 and label 0 found so far.",
    columns: [
      column("decile", whole),
      column("score from", figure),
      column("to", figure),
      column("rows", whole),
      column("label 1", whole),
      column("rate", percent),
      column("lift", figure),
      column("lift, 95% from", figure),
      column("lift, 95% to", figure),
      column("gain", percent),
      column("label 0 so far", percent),
      column("lift so far", figure),
      column("KS", figure),
    ],
    rows: gainTable(tenths).map((row, i) => {
      const { low, high } = wilsonInterval(row.observed, row.rows);
      const rate = row.observed / row.lift;
      return [
        i + 1,
        row.from,
        row.to,
        row.rows,
        Number((row.weight * row.observed).toPrecision(12)),
        row.observed,
        finite(row.lift),
        finite(low / rate),
        finite(high / rate),
        finite(row.gain),
        finite(row.negativesFound),
        finite(row.cumulativeLift),
        finite(row.ks),
      ];
    }),
  };
}

type Tenths = NonNullable<FiguresOf<"binary">["calibration"]>;

function calibrationTable(tenths: Tenths): EvaluationTable {
  return {
    name: "calibration",
    title: "Calibration by tenths of the probability",
    about:
      "Tenths of the rows by predicted probability of label 1, the lowest first. Predicted: its mean. Observed: the " +
      "rate of label 1, with Wilson's 95% interval: a mean outside of it is hardly explained by chance.",
    columns: [
      column("probability from", percent),
      column("to", percent),
      column("rows", whole),
      column("predicted", percent),
      column("observed", percent),
      column("observed, 95% from", percent),
      column("observed, 95% to", percent),
    ],
    rows: tenths.map(({ from, to, rows, predicted, observed }) => {
      const { low, high } = wilsonInterval(observed, rows);
      return [from, to, rows, predicted, observed, low, high];
    }),
  };
}

function scorecardTable(tenths: Tenths, { scale }: EvaluationTerms): EvaluationTable {
  const { pointsToDouble, basePoints, baseOdds } = scale;
  return {
    name: "scorecard",
    title: "Scorecard points",
    about:
      `The probability of label 1 as points: ${basePoints} points are odds of ${baseOdds} to 1 for label 0, and each ` +
      `${pointsToDouble} points more double these odds. More points are less risk. Bands are the tenths of the rows, ` +
      "the highest points first.",
    columns: [
      column("points from", points),
      column("to", points),
      column("rows", whole),
      column("rate of label 1", percent),
      column("odds by the points, to 1", figure),
      column("odds observed, to 1", figure),
    ],
    rows: tenths.map(({ from, to, rows, predicted, observed }) => [
      finite(pointsOf(to, scale)),
      finite(pointsOf(from, scale)),
      rows,
      observed,
      finite((1 - predicted) / predicted),
      finite((1 - observed) / observed),
    ]),
  };
}

function precisionRecallTable(figures: FiguresOf<"binary">): EvaluationTable {
  return {
    name: "precision-recall",
    title: "Precision and recall by cut-off",
    about: "Of all kept cut-offs, the highest first.",
    columns: [
      column("cut-off", figure),
      column("recall", percent),
      column("precision", percent),
      column("flagged", percent),
    ],
    rows: figures.cutOffs.map((cut) => {
      const { recall, precision, flagged } = ratesOf(confusionAt(cut, figures));
      return [cut[0], finite(recall), finite(precision), finite(flagged)];
    }),
  };
}
