/**
 * The evaluation of a model for its owner's report, from predictions of rows whose labels this party holds: at the end
 * of a job, and of a later file. Only statistics are kept.
 */
import { quantileBounds } from "../base/statistics/stability-index.ts";
import { sigmoid } from "../gbdt/objective/link.ts";
import { classCutOff, objectiveFor, predictionsFrom } from "../gbdt/objective/objectives.ts";
import type { TrainingParameters } from "../gbdt/parameters/training-parameters.ts";
import type { TrainingRows } from "../gbdt/rows/training-rows.ts";
import { bootstrapped, differenceOf, estimates, type Resampled, usualBootstrap } from "../gbdt/evaluation/bootstrap.ts";
import { aftLoss } from "../gbdt/objective/aft-loss.ts";
import { classFigures, likeliest } from "../gbdt/evaluation/class-figures.ts";
import { cutOffsOf } from "../gbdt/evaluation/cut-offs.ts";
import { bySize, rankedGroups } from "../gbdt/evaluation/ranking-figures.ts";
import { resampledBinary, resampledErrors, resampledMeans } from "../gbdt/evaluation/resampled-rows.ts";
import { pinballLoss, quantileFigures, residualQuantiles } from "../gbdt/evaluation/residuals.ts";
import { scoreHistogram } from "../gbdt/evaluation/score-curves.ts";
import { scoreCounts, scoreTenths } from "../gbdt/evaluation/score-tenths.ts";
import { classTotals, scoreSteps } from "../gbdt/evaluation/score-steps.ts";
import {
  baselineHazard,
  horizonGroups,
  horizonsOf,
  resampledConcordance,
  type SurvivalTimes,
} from "../gbdt/evaluation/survival-figures.ts";
import type { ActiveConfig } from "./config/config.ts";
import type { EvaluationFigures, EvaluationPart, FiguresOf, ModelEvaluation } from "../record/evaluation/evaluation.ts";

/** Margins of some rows whose labels are known. */
export interface EvaluatedRows {
  readonly part: EvaluationPart;
  readonly margins: Float64Array;
  /** All of them count. */
  readonly rows: TrainingRows;
}

interface Subject {
  /** The first is the one that is compared. */
  readonly statistics: Resampled;
  /** Of the first statistic. */
  readonly higherIsBetter: boolean;
  /** One score per row; null: there are several. */
  readonly scores: Float64Array | null;
  readonly labelsHaveMean: boolean;
  figures(): EvaluationFigures;
}

export interface EvaluationSurroundings {
  readonly now?: number;
  /** What the labels are called. */
  readonly label?: ModelEvaluation["label"];
  /** Scores of the training rows, where these rows are not at hand; null: not known. */
  readonly reference?: ModelEvaluation["stability"];
}

/**
 * @param parts the last one is shown in detail; the training rows first, if they are known
 * @param alone margins of the shown rows by a model of the own columns only; null: there is none
 */
export async function evaluateModel(
  training: TrainingParameters,
  parts: readonly EvaluatedRows[],
  alone: Float64Array | null,
  { now = Date.now(), label, reference = null }: EvaluationSurroundings = {},
): Promise<ModelEvaluation> {
  const subjects = parts.map(({ margins, rows }) => subjectOf(training, margins, rows, parts[0]));
  const [shown, subject] = [parts[parts.length - 1], subjects[subjects.length - 1]];
  const described: ModelEvaluation["parts"][number][] = [];
  for (const [i, { part, rows }] of parts.entries())
    described.push({
      part,
      rows: rows.count,
      meanLabel: subjects[i].labelsHaveMean ? meanOf(rows) : null,
      // A model is fitted to its training rows: an interval of them says nothing about others.
      estimates: part === "training" ? estimates(subjects[i].statistics) : await bootstrapped(subjects[i].statistics),
    });
  const other = alone === null ? null : subjectOf(training, alone, shown.rows, null);
  return {
    madeAt: now,
    objective: training.objective,
    ...(label === undefined ? {} : { label }),
    shown: shown.part,
    parts: described,
    stability: stabilityOf(parts, subjects, reference),
    federation: other === null ? null : await federationOf(subject, other),
    bootstrap: { ...usualBootstrap },
    figures: subject.figures(),
  };
}

/** What a config calls the labels. */
export function labelNames({ label: column, positive }: ActiveConfig["data"]): ModelEvaluation["label"] {
  return { column, ...(positive === undefined ? {} : { positive }) };
}

async function federationOf(
  { statistics, higherIsBetter }: Subject,
  { statistics: alone }: Subject,
): Promise<ModelEvaluation["federation"]> {
  const [gain] = await bootstrapped(differenceOf(first(statistics), first(alone), higherIsBetter ? 1 : -1));
  const [ofAlone] = await bootstrapped(first(alone));
  return { alone: ofAlone, gain, higherIsBetter };
}

/** Its first statistic only. */
function first({ names, of, ...rest }: Resampled): Resampled {
  return { ...rest, names: names.slice(0, 1), of: (copies) => of(copies).slice(0, 1) };
}

function stabilityOf(
  parts: readonly EvaluatedRows[],
  subjects: readonly Subject[],
  reference: ModelEvaluation["stability"],
): ModelEvaluation["stability"] {
  const scores = subjects.flatMap(({ scores: ofPart }) => (ofPart === null ? [] : [ofPart]));
  if (scores.length !== parts.length) return null;
  if (reference !== null) {
    const [trained] = reference.counts;
    const later = parts.map(({ part }, i) => ({ part, counts: scoreCounts(reference.bounds, [scores[i]])[0] }));
    return { bounds: reference.bounds, counts: [trained, ...later] };
  }
  const bounds = quantileBounds(scores[0]);
  const counts = scoreCounts(bounds, scores);
  return { bounds, counts: parts.map(({ part }, i) => ({ part, counts: counts[i] })) };
}

function meanOf({ labels, weights }: TrainingRows): number {
  let [sum, total] = [0, 0];
  labels.forEach((label, row) => {
    const weight = weights?.[row] ?? 1;
    sum += weight * label;
    total += weight;
  });
  return sum / total;
}

/** @param reference the training rows, where they are known; null: not known */
function subjectOf(
  training: TrainingParameters,
  margins: Float64Array,
  rows: TrainingRows,
  reference: EvaluatedRows | null,
): Subject {
  const { objective } = training;
  const outputs = margins.length / rows.count;
  const { kind, evaluated } = objectiveFor(objective);
  const predictions = evaluated?.(margins, outputs) ?? predictionsFrom(objective, margins, outputs);
  switch (kind) {
    case "binary":
      return ofTwoClasses(training, margins, predictions, rows);
    case "classes":
      return ofClasses(predictions, outputs, rows);
    case "quantile":
      return ofQuantiles(predictions, training.quantile_alpha, rows);
    case "hazard":
    case "time":
      return ofSurvival(training, margins, rows, reference);
    case "rank":
      return ofRanking(margins, rows);
    case "fraction":
    case "number":
    case "mean":
      return ofNumbers(predictions, rows);
  }
}

function ofTwoClasses(
  { objective }: TrainingParameters,
  margins: Float64Array,
  predictions: Float64Array,
  { labels, weights }: TrainingRows,
): Subject {
  const probabilities = objective === "binary:hinge" ? null : margins.map(sigmoid);
  // Of hinge loss only the side of a margin counts: the prediction is a class.
  const statistics = resampledBinary({ scores: predictions, probabilities, labels, weights });
  const figures = (): FiguresOf<"binary"> => {
    const steps = scoreSteps(predictions, labels, weights);
    const [positives, negatives] = [classTotals(steps).positives, classTotals(steps).negatives];
    let ksAt = { score: steps.scores[0], ks: 0 };
    steps.scores.forEach((score, step) => {
      const ks = Math.abs(steps.positives[step] / positives - steps.negatives[step] / negatives);
      if (ks > ksAt.ks) ksAt = { score, ks };
    });
    return {
      kind: "binary",
      cutOff: classCutOff(objective),
      positives,
      negatives,
      cutOffs: cutOffsOf(steps),
      ksAt,
      histogram: scoreHistogram(predictions, labels),
      tenths: scoreTenths(predictions, labels, weights),
      calibration: probabilities && scoreTenths(probabilities, labels, weights),
    };
  };
  return { statistics, higherIsBetter: true, scores: predictions, labelsHaveMean: true, figures };
}

function ofClasses(probabilities: Float64Array, count: number, { labels, weights }: TrainingRows): Subject {
  const chosen = likeliest(probabilities, count);
  const right = labels.map((label, row) => Number(chosen[row] === label));
  const losses = labels.map((label, row) => -Math.log(Math.max(probabilities[row * count + label], 1e-16)));
  return {
    statistics: resampledMeans(["accuracy", "mlogloss"], [right, losses], weights),
    higherIsBetter: true,
    scores: null,
    labelsHaveMean: false,
    figures: () => ({ kind: "classes", ...classFigures(probabilities, labels, weights) }),
  };
}

function ofNumbers(predictions: Float64Array, { labels, weights }: TrainingRows): Subject {
  return {
    statistics: resampledErrors(predictions, labels, weights),
    higherIsBetter: false,
    scores: predictions,
    labelsHaveMean: true,
    figures: () => ({
      kind: "number",
      tenths: scoreTenths(predictions, labels, weights),
      residuals: residualQuantiles(predictions, labels),
    }),
  };
}

function ofQuantiles(predictions: Float64Array, levels: readonly number[], { labels, weights }: TrainingRows): Subject {
  const losses = labels.map(
    (label, row) =>
      levels.reduce((sum, level, k) => sum + pinballLoss(label, predictions[row * levels.length + k], level), 0) /
      levels.length,
  );
  return {
    statistics: resampledMeans(["quantile"], [losses], weights),
    higherIsBetter: false,
    scores: levels.length === 1 ? predictions : null,
    labelsHaveMean: true,
    figures: () => ({ kind: "quantile", levels: quantileFigures(predictions, labels, weights, levels) }),
  };
}

/** Cox's labels are negative if censored; those of failure times have an upper bound. */
function timesOf({ labels, columns }: TrainingRows, isHazard: boolean): SurvivalTimes {
  if (isHazard) return { times: labels.map(Math.abs), events: Uint8Array.from(labels, (label) => Number(label > 0)) };
  const uppers = columns.label_upper_bound ?? labels;
  return {
    // An event between two times counts at their middle.
    times: labels.map((lower, row) => (uppers[row] === Infinity ? lower : (lower + uppers[row]) / 2)),
    events: Uint8Array.from(uppers, (upper) => Number(upper !== Infinity)),
  };
}

function ofSurvival(
  training: TrainingParameters,
  margins: Float64Array,
  rows: TrainingRows,
  reference: EvaluatedRows | null,
): Subject {
  const isHazard = objectiveFor(training.objective).kind === "hazard";
  const seen = timesOf(rows, isHazard);
  const { weights } = rows;
  // A predicted time is a risk the other way round.
  const risks = isHazard ? margins : margins.map((margin) => -margin);
  const figures = (): FiguresOf<"survival"> => {
    const at = horizonsOf(seen);
    const surviving = isHazard ? hazardCurves(margins, reference, at) : timeCurves(training, margins, at);
    return {
      kind: "survival",
      events: seen.events.reduce((sum, event) => sum + event, 0),
      horizons: surviving.map((parts, i) => ({
        time: at[i],
        groups: horizonGroups(seen, parts, weights, at[i]),
      })),
    };
  };
  return {
    statistics: resampledConcordance(seen, risks, weights),
    higherIsBetter: true,
    scores: risks,
    labelsHaveMean: false,
    figures,
  };
}

/** By the baseline of the training rows; without them a relative hazard gives no probability. */
function hazardCurves(margins: Float64Array, reference: EvaluatedRows | null, at: readonly number[]): Float64Array[] {
  if (reference?.part !== "training") return [];
  const { rows, margins: trained } = reference;
  const baseline = baselineHazard(timesOf(rows, true), trained.map(Math.exp), rows.weights, at);
  return baseline.map((hazard) => margins.map((margin) => Math.exp(-hazard * Math.exp(margin))));
}

function timeCurves(training: TrainingParameters, margins: Float64Array, at: readonly number[]): Float64Array[] {
  const { aft_loss_distribution: name, aft_loss_distribution_scale: sigma } = training;
  const open = { upper: Infinity };
  return at.map((lower) => margins.map((margin) => Math.exp(-aftLoss({ lower, ...open }, margin, name, sigma))));
}

function ofRanking(margins: Float64Array, { labels, weights, columns }: TrainingRows): Subject {
  const groups = rankedGroups(margins, labels, columns.qid ?? new Float64Array(labels.length), weights);
  return {
    statistics: resampledMeans(["ndcg"], [groups.ndcg], groups.weights),
    higherIsBetter: true,
    scores: margins,
    labelsHaveMean: false,
    figures: () => ({ kind: "ranking", bySize: bySize(groups) }),
  };
}
