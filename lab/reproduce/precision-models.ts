/** What coarse steps do to a whole model: the same job at several r, and on the finest grid. */
import { codecWith } from "../../src/base/parameters/parameters.ts";
import { trainInOnePlace } from "../../src/simulate/comparison.ts";
import { type TrialSpec, trialJob, fineGrid } from "../trials/trial.ts";
import type { CutTable } from "../trials/credit-tables.ts";
import { count, decimals, scientific, signed } from "./figures-in-words.ts";
import { plainColumns, type ResultTable } from "./outcome.ts";
import { paperAlpha, paperShift } from "./paper.ts";
import type { PaperDataset } from "../trials/paper-datasets.ts";

/** Information bits of a slot that are tried. */
export const informationBits = [20, 25, 30, 35, 40];

export interface ModelExperiment {
  readonly spec: TrialSpec;
  readonly rows: CutTable;
  readonly dataset: PaperDataset;
}

/** The finest grid comes last, without an r. */
export interface ModelRow {
  readonly r: number | null;
  readonly resolution: number;
  readonly auc: number;
  readonly ks: number;
}

/** The whole model at several r, in one place: the federated one is the same. */
export async function modelRows({ spec, rows, dataset }: ModelExperiment): Promise<ModelRow[]> {
  const bits = [...new Set([16, ...informationBits.filter((r) => r <= dataset.r), dataset.r])];
  const codecs = bits.map((r) => ({
    r,
    codec: codecWith({
      layout: "paper",
      shift: paperShift,
      codec_alpha: paperAlpha,
      alpha_max: dataset.alphaMax,
      r,
    }),
  }));
  const accuracy = async (codec: typeof fineGrid): Promise<{ auc: number; ks: number }> => {
    const { testMetrics } = await trainInOnePlace({
      train: rows.train,
      test: rows.test,
      job: { ...trialJob(spec), codec },
    });
    return { auc: testMetrics?.["auc"] ?? Number.NaN, ks: testMetrics?.["ks"] ?? Number.NaN };
  };
  const models: ModelRow[] = [];
  for (const { r, codec } of codecs)
    models.push({ r, resolution: dataset.alphaMax / 2 ** r, ...(await accuracy(codec)) });
  models.push({ r: null, resolution: 2 ** -fineGrid.resolution_bits, ...(await accuracy(fineGrid)) });
  return models;
}

export function modelTable(rows: readonly ModelRow[], { spec, dataset }: ModelExperiment): ResultTable {
  const finest = rows[rows.length - 1];
  return {
    name: "precision-models",
    title: "Effect of the step on a model",
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
      `${dataset.title}, ${count(spec.trainRows)} training rows, ${spec.trees} trees, ` +
        `alpha_max = ${scientific(dataset.alphaMax)}. Differences are to the finest grid.`,
    ],
  };
}
