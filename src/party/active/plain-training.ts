/**
 * Training in one place: with the rows, seed, grid and parameters of a federated job, and no encryption. With every
 * party's columns it is the oracle; with the active party's own it is the baseline of a job.
 */
import { resolveParameters } from "../../base/parameters/parameters.ts";
import { privacyParameters } from "../../privacy/defences/defences.ts";
import { categoryNamesPerFeature, type PartyTable } from "../../data/dataset.ts";
import { BoostingMonitor } from "../../gbdt/boost/boosting-monitor.ts";
import { BoostingTask } from "../../gbdt/boost/boosting-task.ts";
import type { Model } from "../../gbdt/tree/model.ts";
import { predictMargins } from "../../gbdt/tree/predict.ts";
import { trainCentralised } from "../../gbdt/boost/train.ts";
import type { TrainingRows } from "../../gbdt/rows/training-rows.ts";
import type { JobTables } from "./tables.ts";
import { evaluate } from "../evaluate.ts";
import type { Job } from "../../protocol/job.ts";
import { treeTerms } from "../job-grid.ts";
import type { ActiveResult } from "../../record/events/job-events.ts";
import { binningOf, binTable } from "../tables/party-data.ts";
import { rowsOfTable } from "../tables/table-rows.ts";

export interface PlainTraining {
  /** With the codec of its scheme (job-grid.ts). */
  readonly job: Job;
  /** Index 0 is the active party. */
  readonly train: readonly PartyTable[];
  readonly test: readonly PartyTable[] | null;
  /** Of `train`. */
  readonly rows: TrainingRows;
  /** The start model; null or left out: none. */
  readonly start?: Model | null;
  /** Per party the secret of its column sampling. */
  readonly samplingSecrets: readonly string[];
  /** Per party the secret of its noise. */
  readonly noiseSecrets?: readonly Uint8Array[];
}

/** Margins of a model's rows; those of a row side by side. */
export interface PlainMargins {
  /** Of all rows of `train`, those for validation included. */
  readonly train: Float64Array;
  readonly test: Float64Array | null;
}

export interface PlainResult {
  readonly model: Model;
  readonly margins: PlainMargins;
  /**
   * As in a federated job: training and validation rows after the last grown round.
   */
  readonly metrics: ActiveResult["metrics"];
}

export async function trainPlain(plain: PlainTraining): Promise<PlainResult> {
  const { job, train, rows } = plain;
  const { training } = job;
  const start = plain.start
    ? { model: plain.start, columns: train.map(({ features }) => features), names: train.map(categoryNamesPerFeature) }
    : null;
  const { trainMargins: grown, ...model } = await trainCentralised({
    ...treeTerms(job),
    start,
    parties: train.map((table) => binTable(table, binningOf(job), rows.training)),
    rows,
    samplingSecrets: plain.samplingSecrets,
    ...(plain.noiseSecrets && { noiseSecrets: plain.noiseSecrets }),
  });
  // Early stopping drops the last rounds; the reported metrics are those of the kept model.
  const trainMargins = training.early_stopping_rounds === 0 ? grown : marginsIn(train, model, rows);
  const testMargins = testMarginsOf(plain, model);
  const monitor = new BoostingMonitor(training, new BoostingTask(training, rows));
  const validation = await monitor.onValidation(trainMargins);
  return {
    model,
    margins: { train: trainMargins, test: testMargins },
    metrics: {
      train: await monitor.onTraining(trainMargins),
      ...(validation === null ? {} : { validation }),
      test: testMetrics(plain, testMargins),
    },
  };
}

/** The baseline of the active party alone: its own columns, the job's rows, seed and parameters. */
export async function trainAlone(
  job: Job,
  { train, test, rows }: Pick<JobTables, "train" | "test" | "rows">,
  samplingSecret: string,
): Promise<Pick<PlainResult, "metrics" | "margins">> {
  return trainPlain({
    // Defences apply to passive parties only.
    job: { ...job, privacy: resolveParameters(privacyParameters, {}) },
    train: [train],
    test: test && [test],
    rows,
    samplingSecrets: [samplingSecret],
  });
}

function testMarginsOf({ test }: PlainTraining, model: Model): Float64Array | null {
  return test && marginsIn(test, model, rowsOfTable(test[0]));
}

function testMetrics(
  { test, job: { training } }: PlainTraining,
  margins: Float64Array | null,
): ActiveResult["metrics"]["test"] {
  return test && margins && evaluate(training, margins, rowsOfTable(test[0]));
}

/** @param tables of all parties */
function marginsIn(tables: readonly PartyTable[], model: Model, rows: TrainingRows): Float64Array {
  const columns = tables.map(({ features }) => features);
  return predictMargins(model, columns, rows.count, tables.map(categoryNamesPerFeature), rows.baseMargins);
}
