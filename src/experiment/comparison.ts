/** The yardsticks beside a federated run: all data in one place, and the active party alone. */
import type { CodecParameters, TrainingParameters } from "../base/parameters.ts";
import { plaintextBitsMax } from "../codec/packing.ts";
import type { Model } from "../gbdt/model.ts";
import { otherRows } from "../gbdt/boosting-task.ts";
import { predictMargins } from "../gbdt/predict.ts";
import { trainCentralised } from "../gbdt/train.ts";
import { categoryNamesOf, type PartyTable } from "../data/dataset.ts";
import { validationRows } from "../data/split.ts";
import { evaluate } from "../party/evaluate.ts";
import type { Metrics } from "../party/events.ts";
import { binningOf, binTable } from "../party/party-data.ts";
import { simulatedSecret } from "./federation.ts";
import { quantiserFor } from "../protocol/gradient-layout.ts";

export interface OnePlaceJob {
  /** Index 0 is the active party; its labels count. */
  readonly train: readonly PartyTable[];
  readonly test: readonly PartyTable[] | null;
  readonly training: TrainingParameters;
  readonly codec: CodecParameters;
  readonly keyBits: number;
  readonly validationFraction?: number | undefined;
}

export interface OnePlaceResult {
  readonly model: Model;
  readonly testMetrics: Metrics | null;
}

/** Trains the same trees on the same quantised gradients, with every column on one machine and no encryption. */
export async function trainInOnePlace(job: OnePlaceJob): Promise<OnePlaceResult> {
  const labels = job.train[0].labels ?? new Float64Array(0);
  const quantise = quantiserFor(job.codec, plaintextBitsMax(job.keyBits));
  const validation = job.validationFraction === undefined ? null : validationRows(labels.length, job.validationFraction, job.training.seed);
  const parties = job.train.map((table) => binTable(table, binningOf(job.training), validation && otherRows(validation, labels.length)));
  const model = await trainCentralised({ parties, labels, weights: job.train[0].weights ?? null, validationRows: validation, parameters: job.training, quantise, samplingSecrets: job.train.map((_, party) => simulatedSecret(party)) });
  const testLabels = job.test?.[0].labels ?? null;
  if (job.test === null || testLabels === null) return { model, testMetrics: null };
  const margins = predictMargins(model, job.test.map(({ features }) => features), testLabels.length, job.test.map(categoryNamesOf));
  return { model, testMetrics: evaluate(job.training, margins, testLabels, job.test[0].weights) };
}
