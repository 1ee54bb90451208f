/**
 * Precision: measured errors of sums against the paper's bound, its two trade-offs, and what coarse steps do to a model
 * (sec. III-C).
 */
import { codecParameters, resolveParameters } from "../../base/parameters.ts";
import { trainInOnePlace } from "../simulate/comparison.ts";
import { type CellSpec, cellTraining, fineGrid } from "./cell.ts";
import type { CreditTable, CutTable } from "./credit-tables.ts";
import { count, decimals, percent, scientific, signed } from "./figures-in-words.ts";
import {
  type ExperimentOutcome,
  type LinePanel,
  plainColumns,
  type ResultFigure,
  type ResultTable,
} from "./outcome.ts";
import { paperAlpha, paperShift } from "./paper.ts";
import type { PaperDataset } from "./paper-datasets.ts";
import { drawRowsOf, drawsTable, drawsWords } from "./precision-draws.ts";
import { type Quantisation, type SumErrors, sumErrors } from "./precision-sums.ts";
import type { RealGradients } from "./real-gradients.ts";

const alphaMaxes = [2e5, 5e5, 1e6, 1e7, 1e8];
const informationBits = [20, 25, 30, 35, 40];
/** Shifted gradients lie in [9, 11]: below 11 truncation bites. */
const alphas = [9.5, 9.8, 10, 10.2, 10.5, 10.8, 11, 12, 14, 17, 20];
/** No difference worth the name, as in the claims. */
const closeAuc = 0.002;
/** Rounding of doubles while errors are summed. */
const slack = 1e-9;

export interface PrecisionExperiment {
  readonly gradients: RealGradients;
  readonly table: CreditTable;
  readonly rowDraws: number;
  readonly dataset: PaperDataset;
  readonly spec: CellSpec;
  readonly rows: CutTable;
  readonly seed: number;
}

interface ModelRow {
  readonly r: number | null;
  readonly resolution: number;
  readonly auc: number;
  readonly ks: number;
}

export async function precisionOutcome(experiment: PrecisionExperiment): Promise<ExperimentOutcome> {
  const errors = (quantisation: Quantisation): SumErrors =>
    sumErrors(experiment.gradients, quantisation, experiment.seed);
  const grid = alphaMaxes.flatMap((alphaMax) => informationBits.map((r) => errors({ alphaMax, r })));
  const { alphaMax, r } = experiment.dataset;
  const byBits = informationBits.map((bits) => errors({ alphaMax, r: bits }));
  const byAlphaMax = alphaMaxes.map((value) => errors({ alphaMax: value, r }));
  const byAlpha = alphas.map((alpha) => errors({ alphaMax, r, alpha }));
  const models = await modelRows(experiment);
  const draws = await drawRowsOf(experiment.table, experiment.spec, experiment.seed, experiment.rowDraws);
  return {
    name: "precision",
    title: "Precision of quantised sums",
    reference: "sec. III-C",
    paragraph: `${precisionWords(grid, byAlphaMax, byAlpha, models)} ${drawsWords(draws, closeAuc)}`.trim(),
    tables: [
      errorTable(grid, experiment),
      alphaTable(byAlpha, experiment),
      modelTable(models, experiment),
      drawsTable(draws, experiment.spec),
    ],
    figures: [
      boundFigure(byBits),
      tradeOffFigure("alpha-max", "alpha_max", byAlphaMax, (row) => row.alphaMax, true),
      tradeOffFigure("alpha", "alpha", byAlpha, (row) => row.alpha, false),
    ],
  };
}

function errorTable(rows: readonly SumErrors[], { gradients }: PrecisionExperiment): ResultTable {
  return {
    name: "precision-errors",
    title: `Error of the sum of all ${count(gradients.instanceCount)} gradients against the paper's bound`,
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
      percent(row.worstShareOfBound),
    ]),
    notes: [
      `s = ${paperShift}, alpha = ${paperAlpha}. Errors are the largest of g and h over the first, a middle and the last tree; "largest n" is how many values the slot is proven for. ` +
        "A bin is a bin of a root's histogram.",
    ],
  };
}

function alphaTable(rows: readonly SumErrors[], { dataset }: PrecisionExperiment): ResultTable {
  return {
    name: "precision-alpha",
    title: "The second trade-off: a smaller alpha lets more values in and cuts some off",
    columns: plainColumns("alpha", "largest n", "paper's bound", "error to nearest", "of the bound"),
    rows: rows.map((row) => [
      String(row.alpha),
      count(row.countMax),
      scientific(row.bound),
      scientific(row.error.nearest),
      percent(row.error.nearest / row.bound),
    ]),
    notes: [
      `alpha_max = ${scientific(dataset.alphaMax)}, r = ${dataset.r}. The paper's sentence says "decreasing alpha_max" for both trade-offs; what it describes in the second, more values and a larger truncation error, is decreasing alpha.`,
    ],
  };
}

/** The whole model at several r, in one place: the federated one is the same. */
async function modelRows({ spec, rows, dataset }: PrecisionExperiment): Promise<ModelRow[]> {
  const training = cellTraining(spec);
  const bits = [...new Set([16, ...informationBits.filter((r) => r <= dataset.r), dataset.r])];
  const codecs = bits.map((r) => ({
    r,
    codec: resolveParameters(codecParameters, {
      layout: "paper",
      shift: paperShift,
      alpha: paperAlpha,
      alpha_max: dataset.alphaMax,
      r,
    }),
  }));
  const accuracy = async (codec: typeof fineGrid): Promise<{ auc: number; ks: number }> => {
    const { testMetrics } = await trainInOnePlace({
      train: rows.train,
      test: rows.test,
      training,
      codec,
      keyBits: spec.keyBits,
    });
    return { auc: testMetrics?.["auc"] ?? Number.NaN, ks: testMetrics?.["ks"] ?? Number.NaN };
  };
  const models: ModelRow[] = [];
  for (const { r, codec } of codecs)
    models.push({ r, resolution: dataset.alphaMax / 2 ** r, ...(await accuracy(codec)) });
  models.push({ r: null, resolution: 2 ** -fineGrid.resolution_bits, ...(await accuracy(fineGrid)) });
  return models;
}

function modelTable(rows: readonly ModelRow[], { spec, dataset }: PrecisionExperiment): ResultTable {
  const finest = rows[rows.length - 1];
  return {
    name: "precision-models",
    title: "What the step does to a whole model",
    columns: plainColumns("r", "step", "AUC test", "difference", "KS test", "difference "),
    rows: rows.map(({ r, resolution, auc, ks }) => [
      r === null ? "finest grid" : String(r),
      scientific(resolution),
      decimals(auc),
      r === null ? "" : signed(auc - finest.auc),
      decimals(ks),
      r === null ? "" : signed(ks - finest.ks),
    ]),
    notes: [
      `${dataset.title}, ${count(spec.trainRows)} training rows, ${spec.trees} trees, alpha_max = ${scientific(dataset.alphaMax)}; the difference is to the finest grid.`,
    ],
  };
}

function boundFigure(rows: readonly SumErrors[]): ResultFigure {
  const line = (name: string, value: (row: SumErrors) => number, dashed = false) => ({
    name,
    dashed,
    points: positive(rows.map((row) => [row.r, value(row)])),
  });
  return {
    name: "precision-bound",
    caption: `Error of the sum of all gradients by information bits r, at alpha_max = ${scientific(rows[0].alphaMax)}.`,
    panels: [
      {
        kind: "lines",
        title: "error of the sum",
        xTitle: "r, bits",
        yTitle: "error",
        xLog: false,
        yLog: true,
        series: [
          line("the paper's bound", ({ bound }) => bound, true),
          line("rounding to nearest", ({ error }) => error.nearest),
          line("stochastic rounding", ({ error }) => error.stochastic),
        ],
      },
    ],
  };
}

function tradeOffFigure(
  name: string,
  axis: string,
  rows: readonly SumErrors[],
  at: (row: SumErrors) => number,
  xLog: boolean,
): ResultFigure {
  const panel = (title: string, yTitle: string, yLog: boolean, series: LinePanel["series"]): LinePanel => ({
    kind: "lines",
    title,
    xTitle: axis,
    yTitle,
    xLog,
    yLog,
    series,
  });
  const points = (value: (row: SumErrors) => number) => positive(rows.map((row) => [at(row), value(row)]));
  return {
    name: `precision-${name}`,
    caption: `Trade-off of ${axis} (r = ${rows[0].r}): how many values may be added, and how far their sum is off.`,
    panels: [
      panel("(a) values that may be added", "largest n", xLog, [
        { name: "no overflow is proven up to", points: points((row) => row.countMax) },
      ]),
      panel("(b) error of the sum", "error", true, [
        { name: "the paper's bound", dashed: true, points: points(({ bound }) => bound) },
        { name: "rounding to nearest", points: points(({ error }) => error.nearest) },
        { name: "stochastic rounding", points: points(({ error }) => error.stochastic) },
      ]),
    ],
  };
}

/** A logarithm has no room for zero. */
function positive(points: readonly (readonly [number, number])[]): (readonly [number, number])[] {
  return points.filter(([, value]) => value > 0);
}

/** Sentences for either outcome; nothing is taken for granted. */
export function precisionWords(
  grid: readonly SumErrors[],
  byAlphaMax: readonly SumErrors[],
  byAlpha: readonly SumErrors[],
  models: readonly ModelRow[],
): string {
  return [
    boundWords([...grid, ...byAlpha]),
    roundingWords(grid),
    tradeOffWords(byAlphaMax, byAlpha.toReversed()),
    modelWords(models),
  ].join(" ");
}

function boundWords(rows: readonly SumErrors[]): string {
  const broken = rows.filter(
    ({ error, bound, worstShareOfBound }) => error.nearest > bound * (1 + slack) || worstShareOfBound > 1 + slack,
  );
  const shares = rows.map(({ error, bound }) => error.nearest / bound);
  const verdict =
    broken.length === 0
      ? `The paper's bound holds in all ${count(rows.length)} settings, and in every bin`
      : `The paper's bound is broken in ${count(broken.length)} of ${count(rows.length)} settings`;
  const tight = Math.max(...rows.map(({ worstShareOfBound }) => worstShareOfBound));
  return (
    `${verdict}. Rounding to nearest is off by ${percent(Math.min(...shares))} to ${percent(Math.max(...shares))} of it, in a bin by up to ${percent(tight)}` +
    (tight > 0.5 ? ": there many gradients are equal and err the same way." : ".")
  );
}

function roundingWords(grid: readonly SumErrors[]): string {
  const gains = grid.map(({ error }) => error.nearest / error.stochastic).toSorted((a, b) => a - b);
  const median = gains[Math.floor(gains.length / 2)];
  return median > 1
    ? `Stochastic rounding, which the paper leaves aside, makes the error of the large sum smaller by a factor of ${median.toPrecision(2)} in the median: its errors cancel.`
    : "Stochastic rounding, which the paper leaves aside, makes the error of the large sum no smaller here.";
}

/** @param byAlpha from the largest alpha to the smallest: the direction in which more values are let in */
function tradeOffWords(byAlphaMax: readonly SumErrors[], byAlpha: readonly SumErrors[]): string {
  const shows = (rows: readonly SumErrors[]): boolean => {
    const [first, last] = [rows[0], rows[rows.length - 1]];
    return last.countMax > first.countMax && last.error.nearest > first.error.nearest;
  };
  const [first, second] = [shows(byAlphaMax), shows(byAlpha)];
  if (first && second)
    return "Both trade-offs show: a larger alpha_max, or a smaller alpha, lets more values be added and makes their sum less exact.";
  return `Of the two trade-offs, the one of alpha_max ${first ? "shows" : "does not show"} and the one of alpha ${second ? "shows" : "does not"}.`;
}

function modelWords(models: readonly ModelRow[]): string {
  const finest = models[models.length - 1];
  const good = models
    .slice(0, -1)
    .filter(({ auc }) => Math.abs(auc - finest.auc) <= closeAuc)
    .map(({ r }) => r);
  return good.length === 0
    ? `No r that was tried comes within ${closeAuc} of the finest grid's test AUC.`
    : `Test AUC is within ${closeAuc} of the finest grid's at r = ${good.join(", ")}, of ${models
        .slice(0, -1)
        .map(({ r }) => r)
        .join(", ")} tried.`;
}
