/** The yardsticks beside a federated run: all data in one place, the active party alone, and everybody but one. */
import type { CodecParameters, TrainingParameters } from "../base/parameters.ts";
import type { PartyTable } from "../data/dataset.ts";
import { validationRows } from "../data/split.ts";
import type { Model } from "../gbdt/model.ts";
import type { Metrics } from "../party/events.ts";
import { type PlainResult, trainPlain } from "../party/plain-training.ts";
import { simulatedSecret } from "./federation.ts";

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
  const { model, metrics } = await trainWithout(job, []);
  return { model, testMetrics: metrics.test };
}

/** @param leftOut parties whose columns do not take part; the others draw their columns as before */
function trainWithout(job: OnePlaceJob, leftOut: readonly number[]): Promise<PlainResult> {
  const { training, codec, keyBits, validationFraction: share } = job;
  const takesPart = (_: unknown, party: number): boolean => !leftOut.includes(party);
  return trainPlain({
    train: job.train.filter(takesPart),
    test: job.test?.filter(takesPart) ?? null,
    validationRows: share === undefined ? null : validationRows(job.train[0].ids.length, share, training.seed),
    training,
    codec,
    keyBits,
    samplingSecrets: job.train.map((_, party) => simulatedSecret(party)).filter(takesPart),
  });
}

/** What a model is worth without some parties' columns. */
export interface ContributionRow {
  /** Their names; empty: with everybody's. */
  readonly without: readonly string[];
  readonly metrics: PlainResult["metrics"];
}

/**
 * Everybody, everybody but each passive party in turn, and the active party alone: what somebody's columns add to those of
 * the others. Shares of gain do not say that: what two parties both know is credited to the one that won the splits.
 * @param names of all parties, the active one first
 * @param everybody the first row, which is the federated job's
 */
export async function contributionOf(job: OnePlaceJob, names: readonly string[], everybody: PlainResult["metrics"]): Promise<ContributionRow[]> {
  const passives = names.flatMap((_, party) => (party === 0 ? [] : [party]));
  const groups = [...(passives.length > 1 ? passives.map((party) => [party]) : []), passives];
  const rows: ContributionRow[] = [{ without: [], metrics: everybody }];
  for (const leftOut of groups) rows.push({ without: leftOut.map((party) => names[party]), metrics: (await trainWithout(job, leftOut)).metrics });
  return rows;
}
