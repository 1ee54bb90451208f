/**
 * An evaluation in words: the sentences of the summary, for the page, the report and the terminal. docs/evaluation.md
 * defines every figure.
 *
 * Runs in browsers too.
 */
import { stabilityBounds, stabilityIndex, stabilityOf } from "../../base/statistics/stability-index.ts";
import { formatCount } from "../../base/text/format.ts";
import { calibrationError, calibrationErrorByChance } from "../../gbdt/evaluation/rates.ts";
import type { Estimated, EvaluationPart, ModelEvaluation } from "./evaluation.ts";

export const partWords: Readonly<Record<EvaluationPart, string>> = {
  training: "training rows",
  validation: "validation rows",
  test: "test rows",
  new: "new rows",
};

interface StatisticWords {
  readonly title: string;
  /** For readers who do not know it. */
  readonly about: string;
}

const statistics: Readonly<Record<string, StatisticWords>> = {
  auc: {
    title: "AUC",
    about: "probability that a random row with label 1 scores above a random one with label 0; 0.5 is chance",
  },
  ks: { title: "KS", about: "largest distance between the two classes' score distributions; 0 is chance" },
  average_precision: {
    title: "average precision",
    about: "mean precision over all recalls; chance is the rate of positives",
  },
  brier: { title: "Brier score", about: "mean squared error of the probability; lower is better" },
  accuracy: { title: "accuracy", about: "part of the rows whose likeliest class is right" },
  mlogloss: { title: "log loss", about: "mean negative log-likelihood; lower is better" },
  rmse: { title: "RMSE", about: "root mean squared error, in the label's unit; lower is better" },
  mae: { title: "mean absolute error", about: "in the label's unit; lower is better" },
  r2: { title: "R²", about: "part of the labels' variance that predictions explain; 0 is the mean" },
  quantile: { title: "pinball loss", about: "mean over the quantiles; lower is better" },
  concordance: { title: "concordance", about: "part of the comparable pairs in the right order; 0.5 is chance" },
  ndcg: { title: "NDCG", about: "mean over groups; 1 is the ideal order" },
};

export function statisticWords(name: string): StatisticWords {
  return Object.hasOwn(statistics, name) ? statistics[name] : { title: name, about: "" };
}

/** With as many digits in each line of a column: "0.530" below "0.487". */
export function figureText(value: number | null): string {
  return value === null ? "–" : digitsOf(value, Math.abs(value) >= 1 ? 4 : 3);
}

function digitsOf(value: number, digits: number): string {
  const text = value.toPrecision(digits);
  return value === 0 || text.includes("e") ? String(Number(text)) : text;
}

/** A number that a user has chosen: "0.5". */
export function chosenText(value: number): string {
  return String(Number(value.toPrecision(6)));
}

/** "0.778 (0.764 to 0.792)" */
export function estimateText({ value, low, high }: Omit<Estimated, "name">): string {
  const interval = low === null || high === null ? "" : ` (${figureText(low)} to ${figureText(high)})`;
  return `${figureText(value)}${interval}`;
}

export function percentText(part: number): string {
  return `${digitsOf(100 * part, 3)}%`;
}

/** The rows that are shown in detail. */
export function shownPart({ parts, shown }: ModelEvaluation): ModelEvaluation["parts"][number] {
  return parts.find(({ part }) => part === shown) ?? parts[parts.length - 1];
}

export interface StabilityRow {
  readonly from: EvaluationPart;
  readonly to: EvaluationPart;
  readonly index: number;
  readonly words: string;
}

const stabilityWords = {
  stable: "stable",
  moderate: "moderate shift",
  large: "large shift",
} as const;

/** Every later part against the first. */
export function stabilityRows({ stability }: Pick<ModelEvaluation, "stability">): StabilityRow[] {
  if (stability === null) return [];
  const [first, ...others] = stability.counts;
  return others.flatMap(({ part, counts }) => {
    if (counts.length !== first.counts.length) return [];
    const index = stabilityIndex(first.counts, counts);
    return [{ from: first.part, to: part, index, words: stabilityWords[stabilityOf(index)] }];
  });
}

/** How far probabilities are from observed rates, over tenths; null: the model has no probabilities. */
export function calibrationErrorOf({
  figures,
}: Pick<ModelEvaluation, "figures">): { readonly value: number; readonly byChance: number } | null {
  if (figures.kind !== "binary" || figures.calibration === null) return null;
  return { value: calibrationError(figures.calibration), byChance: calibrationErrorByChance(figures.calibration) };
}

/** What label 1 is; null: the labels are not two classes. */
export function labelSentence({ figures, label, shown }: ModelEvaluation): string | null {
  if (figures.kind !== "binary") return null;
  const { positives, negatives } = figures;
  const meaning = label === undefined ? "" : `: column '${label.column}' is ${label.positive ?? 1}`;
  return (
    `Label 1 is the event that the model predicts${meaning}. ` +
    `${percentText(positives / (positives + negatives))} of the ${partWords[shown]} have it; all others have label 0.`
  );
}

/** The Brier score of giving every row the rate of all: what a model without information gets. */
export function uninformedBrier(positives: number, negatives: number): number {
  const rate = positives / (positives + negatives);
  return rate * (1 - rate);
}

/** What the columns of the other parties are worth: one number with its interval. Null: not compared. */
export function federationSentence({ federation }: ModelEvaluation, others: string): string | null {
  if (federation === null) return null;
  const { gain, alone, higherIsBetter } = federation;
  const { title } = statisticWords(gain.name);
  if (gain.value === null) return null;
  const direction = gain.value >= 0 === higherIsBetter ? "higher" : "lower";
  const size = figureText(Math.abs(gain.value));
  const interval =
    gain.low === null || gain.high === null
      ? ""
      : `, and its gain is between ${figureText(gain.low)} and ${figureText(gain.high)} with 95% confidence` +
        (gain.low <= 0 && gain.high >= 0 ? ": it may be nothing" : "");
  return (
    `Value of the federation: with the columns of ${others} the ${title} is ${size} ${direction} than ` +
    `${figureText(alone.value)}, that of the own columns alone${interval}.`
  );
}

/** The summary of an evaluation, a sentence for each question that a committee asks. */
export function evaluationSentences(evaluation: ModelEvaluation, others: string): string[] {
  const { figures, parts } = evaluation;
  const shown = shownPart(evaluation);
  const [main] = shown.estimates;
  const { title, about } = statisticWords(main.name);
  const rows = `${formatCount(shown.rows)} ${partWords[shown.part]}`;
  const trained =
    shown.part === "training" ? ", on which the model was trained: expect less on others" : ", not used for training";
  const sentences = [`On ${rows}${trained}, the ${title} is ${estimateText(main)}: the ${about}.`];
  const label = labelSentence(evaluation);
  if (label !== null) sentences.unshift(label);
  const federation = federationSentence(evaluation, others);
  if (federation !== null) sentences.push(federation);
  const training = parts.find(({ part }) => part === "training")?.estimates[0].value ?? null;
  if (training !== null && main.value !== null && shown.part !== "training")
    sentences.push(
      `On the training rows it is ${figureText(training)}. If it were much better there, the model would be ` +
        "overfitted: it would have learned accidents of these rows.",
    );
  if (figures.kind === "binary") {
    const { positives, negatives } = figures;
    const error = calibrationErrorOf(evaluation);
    const brier = shown.estimates.find(({ name }) => name === "brier");
    if (error !== null && brier !== undefined)
      sentences.push(
        "Calibration: per tenth of the rows, predicted and observed rates differ by " +
          `${percentText(error.value)} on average (expected calibration error). A perfectly calibrated model would ` +
          `have about ${percentText(error.byChance)} by chance, on as many rows.`,
        `The Brier score is ${estimateText(brier)}; ` +
          `giving everyone the rate of ${percentText(positives / (positives + negatives))} would have ` +
          `${figureText(uninformedBrier(positives, negatives))}, and lower is better.`,
      );
  }
  for (const { from, to, index, words } of stabilityRows(evaluation))
    sentences.push(
      `Stability: ${words}. The scores of the ${partWords[to]} against those of the ${partWords[from]} have a ` +
        `stability index of ${figureText(index)} (from ${stabilityBounds.moderate} on the shift is moderate, from ` +
        `${stabilityBounds.large} on large).`,
    );
  return sentences;
}
