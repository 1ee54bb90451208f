/** The yardsticks beside a federated run: all data in one place, and the active party alone. */
import type { CodecParameters, TrainingParameters } from "../base/parameters.ts";
import { plaintextBitsMax } from "../codec/packing.ts";
import type { Model } from "../gbdt/model.ts";
import { otherRows } from "../gbdt/boosting-task.ts";
import { predictMargins } from "../gbdt/predict.ts";
import { trainCentralised } from "../gbdt/train.ts";
import type { PartyTable } from "../data/dataset.ts";
import { validationRows } from "../data/split.ts";
import { evaluate } from "../party/evaluate.ts";
import type { Metrics } from "../party/events.ts";
import { joinTables } from "../party/joined-tables.ts";
import { binTable } from "../party/party-data.ts";
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
  /** Rows that are evaluated after every round, per party; instead of a share of the training rows. */
  readonly validation?: readonly PartyTable[] | null;
  /** Goes on from this model. */
  readonly start?: Model | null;
}

export interface OnePlaceResult {
  readonly model: Model;
  readonly testMetrics: Metrics | null;
}

/** Trains the same trees on the same quantised gradients, with every column on one machine and no encryption. */
export async function trainInOnePlace(job: OnePlaceJob): Promise<OnePlaceResult> {
  const { rows: train, validation } = withValidation(job);
  const labels = train[0].labels ?? new Float64Array(0);
  const quantise = quantiserFor(job.codec, plaintextBitsMax(job.keyBits));
  const parties = train.map((table) => binTable(table, job.training.max_bin, validation && otherRows(validation, labels.length)));
  const start = job.start ? { model: job.start, columns: train.map(({ features }) => features) } : null;
  const model = await trainCentralised({ start, parties, labels, weights: train[0].weights ?? null, validationRows: validation, parameters: job.training, quantise, samplingSecrets: job.train.map((_, party) => simulatedSecret(party)) });
  const testLabels = job.test?.[0].labels ?? null;
  if (job.test === null || testLabels === null) return { model, testMetrics: null };
  const margins = predictMargins(model, job.test.map(({ features }) => features), testLabels.length);
  return { model, testMetrics: evaluate(job.training, margins, testLabels, job.test[0].weights) };
}

/** All rows that take part, those of a validation file last as the parties have them, and which of them are evaluated only. */
export function withValidation({ train, validation, validationFraction, training }: Pick<OnePlaceJob, "train" | "validation" | "validationFraction" | "training">): { readonly rows: readonly PartyTable[]; readonly validation: Uint32Array | null } {
  const count = train[0].ids.length;
  if (validation) return { rows: train.map((table, party) => joinTables([table, validation[party]])), validation: Uint32Array.from(validation[0].ids, (_, i) => count + i) };
  return { rows: train, validation: validationFraction === undefined ? null : validationRows(count, validationFraction, training.seed) };
}
