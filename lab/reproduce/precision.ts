/**
 * Precision: measured errors of sums against the paper's bound, its two trade-offs, and what coarse steps do to a model
 * (sec. III-C).
 */
import type { TrialSpec } from "../trials/trial.ts";
import type { CreditTable, CutTable } from "../trials/credit-tables.ts";
import type { ExperimentOutcome } from "./outcome.ts";
import type { PaperDataset } from "../trials/paper-datasets.ts";
import { drawRowsOf, drawsTable, drawsWords } from "./precision-draws.ts";
import { boundFigure, tradeOffFigure } from "./precision-figures.ts";
import { informationBits, modelRows, modelTable } from "./precision-models.ts";
import { type Quantisation, type SumErrors, sumErrors } from "./precision-sums.ts";
import { alphaTable, errorTable } from "./precision-tables.ts";
import { closeAuc, precisionWords } from "./precision-words.ts";
import type { RealGradients } from "./real-gradients.ts";

const alphaMaxes = [2e5, 5e5, 1e6, 1e7, 1e8];
/** Shifted gradients lie in [9, 11]: an alpha below 11 truncates some. */
const alphas = [9.5, 9.8, 10, 10.2, 10.5, 10.8, 11, 12, 14, 17, 20];

export interface PrecisionExperiment {
  readonly gradients: RealGradients;
  readonly table: CreditTable;
  readonly rowDraws: number;
  readonly dataset: PaperDataset;
  readonly spec: TrialSpec;
  readonly rows: CutTable;
  readonly seed: number;
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
      errorTable(grid, experiment.gradients.instanceCount),
      alphaTable(byAlpha, experiment.dataset),
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
