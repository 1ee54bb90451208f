/**
 * Training without anybody else: columns that stand in one place, with the rows, seed, grid and parameters of a
 * federated job, and no encryption. With every party's columns it is the oracle; with the active party's own it says
 * what a job was worth.
 */
import type { CodecParameters, Defences } from "../../base/parameters/parameters.ts";
import type { TrainingParameters } from "../../gbdt/parameters/training-parameters.ts";
import { chosenScheme, type SchemeChoice } from "../../scheme/registry.ts";
import { categoryNamesOf, type PartyTable } from "../../data/dataset.ts";
import { BoostingMonitor } from "../../gbdt/boost/boosting-monitor.ts";
import { BoostingTask } from "../../gbdt/boost/boosting-task.ts";
import type { Model } from "../../gbdt/tree/model.ts";
import { predictMargins } from "../../gbdt/tree/predict.ts";
import { trainCentralised } from "../../gbdt/boost/train.ts";
import type { TrainingRows } from "../../gbdt/rows/training-rows.ts";
import type { JobTables } from "./tables.ts";
import { evaluate } from "../evaluate.ts";
import { groupsOfTables } from "../interaction-groups.ts";
import { quantiserOfJob } from "../job-grid.ts";
import type { ActiveResult } from "../../record/events/job-events.ts";
import { binningOf, binTable } from "../tables/party-data.ts";
import { rowsOfTable } from "../tables/table-rows.ts";

export interface PlainTraining extends SchemeChoice {
  /** Index 0 is the active party; its labels and weights count. */
  readonly train: readonly PartyTable[];
  readonly test: readonly PartyTable[] | null;
  readonly validationRows: Uint32Array | null;
  /** The model that training goes on from; null or left out: none. */
  readonly start?: Model | null;
  readonly training: TrainingParameters;
  /** The job's own, with what its scheme can do of the resolution (job-grid.ts). */
  readonly codec: CodecParameters;
  /** Per party what it draws its columns with. */
  readonly samplingSecrets: readonly string[];
  /** None where left out. */
  readonly defences?: Defences;
  /** Per party what its noise is made with. */
  readonly noiseSecrets?: readonly Uint8Array[];
}

export interface PlainResult {
  readonly model: Model;
  /**
   * Of the same rows, and as a federated job takes them: training and validation rows after the last round that was
   * grown.
   */
  readonly metrics: ActiveResult["metrics"];
}

export async function trainPlain(job: PlainTraining): Promise<PlainResult> {
  const { training } = job;
  const rows = rowsOfTable(job.train[0], job.validationRows);
  const binning = binningOf(training, groupsOfTables(job.train));
  const parties = job.train.map((table) => binTable(table, binning, rows.training));
  const quantise = quantiserOfJob(job);
  const start = job.start
    ? { model: job.start, columns: job.train.map(({ features }) => features), names: job.train.map(categoryNamesOf) }
    : null;
  const { trainMargins: grown, ...model } = await trainCentralised({
    start,
    parties,
    rows,
    parameters: training,
    quantise,
    membership: chosenScheme(job).scheme.membership,
    samplingSecrets: job.samplingSecrets,
    ...(job.defences && { defences: job.defences }),
    ...(job.noiseSecrets && { noiseSecrets: job.noiseSecrets }),
  });
  // Early stopping drops the last rounds, and what is told is of the model that is kept.
  const trainMargins = training.early_stopping_rounds === 0 ? grown : marginsIn(job.train, model, rows);
  const monitor = new BoostingMonitor(training, new BoostingTask(training, rows));
  const validation = await monitor.onValidation(trainMargins);
  return {
    model,
    metrics: {
      train: await monitor.onTraining(trainMargins),
      ...(validation === null ? {} : { validation }),
      test: testMetrics(job, model),
    },
  };
}

/** What the active party could have done without the others: its own columns, the job's rows, seed and parameters. */
export async function trainAlone(
  job: Pick<PlainTraining, "training" | "codec" | "scheme" | "keyBits">,
  { train, test, rows }: Pick<JobTables, "train" | "test" | "rows">,
  samplingSecret: string,
): Promise<PlainResult["metrics"]> {
  const { metrics } = await trainPlain({
    train: [train],
    test: test && [test],
    validationRows: rows.validation,
    training: job.training,
    codec: job.codec,
    scheme: job.scheme,
    keyBits: job.keyBits,
    samplingSecrets: [samplingSecret],
  });
  return metrics;
}

function testMetrics({ test, training }: PlainTraining, model: Model): ActiveResult["metrics"]["test"] {
  if (test === null) return null;
  const rows = rowsOfTable(test[0]);
  return evaluate(training, marginsIn(test, model, rows), rows);
}

/** @param tables of all parties */
function marginsIn(tables: readonly PartyTable[], model: Model, rows: TrainingRows): Float64Array {
  const columns = tables.map(({ features }) => features);
  return predictMargins(model, columns, rows.count, tables.map(categoryNamesOf), rows.columns.base_margin);
}
