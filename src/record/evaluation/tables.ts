/**
 * The tables of an evaluation, each once: for the page and the report, and as CSV and JSON.
 *
 * Runs in browsers too.
 */
import { binaryTables } from "./binary-tables.ts";
import type { FiguresOf, ModelEvaluation } from "./evaluation.ts";
import { partWords, stabilityRows, statisticWords } from "./facts.ts";
import { column, type EvaluationTable, figure, finite, percent, text, whole } from "./table.ts";
import type { EvaluationTerms } from "./terms.ts";

/** The tables that the figures allow, the most important first. */
export function evaluationTables(evaluation: ModelEvaluation, terms: EvaluationTerms): EvaluationTable[] {
  return [summaryTable(evaluation), ...figureTables(evaluation, terms), ...stabilityTables(evaluation)];
}

function figureTables({ figures }: ModelEvaluation, terms: EvaluationTerms): EvaluationTable[] {
  switch (figures.kind) {
    case "binary":
      return binaryTables(figures, terms);
    case "classes":
      return classTables(figures);
    case "number":
      return [actualTable(figures), residualTable(figures)];
    case "quantile":
      return [quantileTable(figures)];
    case "survival":
      return survivalTables(figures);
    case "ranking":
      return [rankingTable(figures)];
  }
}

function summaryTable({ parts, federation }: ModelEvaluation): EvaluationTable {
  const interval = [column("95% from", figure), column("to", figure)];
  const estimates = parts.flatMap(({ part, rows, estimates: of }) =>
    of.map(({ name, value, low, high }) => [partWords[part], statisticWords(name).title, rows, value, low, high]),
  );
  const shown = parts[parts.length - 1];
  const compared =
    federation === null
      ? []
      : [
          { what: "own columns alone", of: federation.alone },
          { what: "gain of the federation", of: federation.gain },
        ];
  return {
    name: "summary",
    title: "Statistics with confidence intervals",
    about:
      "From and to are the 95% interval: the middle 95% of the statistic over resampled rows (bootstrap). Training " +
      "rows have none, because the model was fitted to them.",
    columns: [
      column("rows", text),
      column("statistic", text),
      column("number of rows", whole),
      column("value", figure),
      ...interval,
    ],
    rows: [
      ...estimates,
      ...compared.map(({ what, of: { name, value, low, high } }) => {
        const title = `${statisticWords(name).title}, ${what}`;
        return [partWords[shown.part], title, shown.rows, value, low, high];
      }),
    ],
  };
}

function classTables({ classes, confusion }: FiguresOf<"classes">): EvaluationTable[] {
  const figures: EvaluationTable = {
    name: "classes",
    title: "Each class against the rest",
    about: "Precision and recall are of the likeliest class. AUC and Brier score are of the class's probability.",
    columns: [
      column("class", text),
      column("rows", whole),
      column("AUC", figure),
      column("precision", percent),
      column("recall", percent),
      column("Brier score", figure),
    ],
    rows: classes.map(({ label, rows, auc, precision, recall, brier }) => [
      String(label),
      rows,
      auc,
      precision,
      recall,
      brier,
    ]),
  };
  if (confusion === null) return [figures];
  return [
    figures,
    {
      name: "confusion",
      title: "Which class is taken for which",
      about: "A row per true class, a column per predicted one: the likeliest.",
      columns: [column("true class", text), ...confusion.map((_, k) => column(`predicted ${k}`, whole))],
      rows: confusion.map((row, k) => [String(k), ...row]),
    },
  ];
}

function actualTable({ tenths }: FiguresOf<"number">): EvaluationTable {
  return {
    name: "deciles",
    title: "Predicted and observed by decile",
    about: "Tenths of the rows by prediction, the lowest first. The residual is the observed mean minus the predicted.",
    columns: [
      column("decile", whole),
      column("prediction from", figure),
      column("to", figure),
      column("rows", whole),
      column("mean predicted", figure),
      column("mean observed", figure),
      column("mean residual", figure),
    ],
    rows: tenths.map(({ from, to, rows, predicted, observed }, i) => [
      i + 1,
      from,
      to,
      rows,
      predicted,
      observed,
      observed - predicted,
    ]),
  };
}

function residualTable({ residuals }: FiguresOf<"number">): EvaluationTable {
  return {
    name: "residuals",
    title: "Quantiles of residuals",
    about: "A residual is the label minus the prediction: half of them are between the 25% and the 75% quantile.",
    columns: [column("quantile", percent), column("residual", figure)],
    rows: residuals,
  };
}

function quantileTable({ levels }: FiguresOf<"quantile">): EvaluationTable {
  return {
    name: "quantiles",
    title: "Coverage of predicted quantiles",
    about: "The part of the labels at or below the prediction should be the quantile.",
    columns: [column("quantile", percent), column("labels at or below", percent), column("pinball loss", figure)],
    rows: levels.map(({ level, below, pinball }) => [level, below, pinball]),
  };
}

function survivalTables({ horizons }: FiguresOf<"survival">): EvaluationTable[] {
  if (horizons.length === 0) return [];
  return [
    {
      name: "horizons",
      title: "Predicted and observed events at horizons",
      about:
        "Fifths of the rows by predicted risk, the lowest first. Predicted: mean probability of an event by then. " +
        "Observed: by Kaplan and Meier, so that censored rows count as long as they were seen.",
      columns: [
        column("horizon", figure),
        column("risk group", whole),
        column("rows", whole),
        column("predicted", percent),
        column("observed", percent),
      ],
      rows: horizons.flatMap(({ time, groups }) =>
        groups.map(({ rows, predicted, observed }, i) => [time, i + 1, rows, predicted, observed]),
      ),
    },
  ];
}

function rankingTable({ bySize }: FiguresOf<"ranking">): EvaluationTable {
  return {
    name: "group-sizes",
    title: "NDCG by the size of groups",
    about: "Larger groups are harder to order. A group without any relevant row counts as 1.",
    columns: [column("rows in the group", text), column("groups", whole), column("NDCG", figure)],
    rows: bySize.map(({ from, to, groups, ndcg }) => [
      to === null ? `${from} or more` : from === to ? String(from) : `${from} to ${to}`,
      groups,
      ndcg,
    ]),
  };
}

function stabilityTables(evaluation: ModelEvaluation): EvaluationTable[] {
  const rows = stabilityRows(evaluation);
  if (rows.length === 0) return [];
  return [
    {
      name: "stability",
      title: "Stability of scores",
      about:
        "The population stability index: the sum of (a - b) ln(a / b) over tenths of the training rows' scores, " +
        "where a and b are the parts of the rows in a tenth. Below 0.1 the scores are stable; from 0.25 on the shift " +
        "is large, and its cause should be known before the model is used.",
      columns: [
        column("rows", text),
        column("against", text),
        column("stability index", figure),
        column("shift", text),
      ],
      rows: rows.map(({ from, to, index, words }) => [partWords[to], partWords[from], finite(index), words]),
    },
  ];
}
