/** Baselines for a federated job: all data in one place, the active party alone, and all parties but one. */
import { noColumns } from "../base/rows/row-columns.ts";
import { drawnGroups } from "../data/drawn-groups.ts";
import type { PartyTable } from "../data/dataset.ts";
import { validationRows } from "../data/split.ts";
import type { Model } from "../gbdt/tree/model.ts";
import type { TrainingRows } from "../gbdt/rows/training-rows.ts";
import type { Metrics } from "../record/events/training-fields.ts";
import type { Job } from "../protocol/job.ts";
import { withGrid } from "../party/job-grid.ts";
import { joinTables } from "../party/tables/joined-tables.ts";
import { rowsOfTable } from "../party/tables/table-rows.ts";
import { type PlainResult, trainPlain } from "../party/active/plain-training.ts";
import { treesPerBoostingRound } from "../protocol/job-parameters.ts";
import { noiseSecretFrom } from "../party/noise-secret.ts";
import { simulatedNoiseSecret, simulatedSecret } from "./federation.ts";

export interface OnePlaceJob {
  /** With the codec as requested. */
  readonly job: Job;
  /** Index 0 is the active party; its labels are used. */
  readonly train: readonly PartyTable[];
  readonly test: readonly PartyTable[] | null;
  /** Share of the training rows that is evaluated after every round instead of trained on. */
  readonly validationFraction?: number | undefined;
  /** Rows that are evaluated after every round, per party; instead of a share of the training rows. */
  readonly validation?: readonly PartyTable[] | null;
  /** Training continues this model. */
  readonly start?: Model | null;
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

/** @param leftOut parties whose columns are not used; the others sample their columns as before */
function trainWithout(given: OnePlaceJob, leftOut: readonly number[]): Promise<PlainResult> {
  const { tables, rows } = withValidation(given);
  const job = withGrid(given.job, rows.trainedCount);
  const { training } = job;
  const isWhole = leftOut.length === 0;
  // A start model of all parties is no baseline for some of them: these train all of its rounds themselves.
  const before = isWhole ? 0 : (given.start?.trees.length ?? 0) / treesPerBoostingRound(training);
  const takesPart = (_: unknown, party: number): boolean => !leftOut.includes(party);
  return trainPlain({
    job: { ...job, training: { ...training, num_round: training.num_round + before } },
    train: tables.filter(takesPart),
    test: given.test === null || given.test[0].ids.length === 0 ? null : given.test.filter(takesPart),
    rows,
    start: isWhole ? (given.start ?? null) : null,
    samplingSecrets: given.train.map((_, party) => simulatedSecret(party)).filter(takesPart),
    noiseSecrets: given.train
      .map((_, party) => noiseSecretFrom(simulatedNoiseSecret(party, training)))
      .filter(takesPart),
  });
}

/** The metrics of a model without some parties' columns. */
export interface ContributionRow {
  /** Their names; empty: with all columns. */
  readonly without: readonly string[];
  readonly metrics: PlainResult["metrics"];
}

/**
 * All parties, all but each passive party, and the active party alone: what a party's columns add to those of the
 * others. Gain does not measure that: information that two parties share is credited to the one that won the splits.
 * @param names of all parties, the active one first
 * @param allParties metrics of the first row, those of the federated job
 */
export async function contributionOf(
  job: OnePlaceJob,
  names: readonly string[],
  allParties: PlainResult["metrics"],
): Promise<ContributionRow[]> {
  const passives = names.flatMap((_, party) => (party === 0 ? [] : [party]));
  const groups = [...(passives.length > 1 ? passives.map((party) => [party]) : []), passives];
  const rows: ContributionRow[] = [{ without: [], metrics: allParties }];
  for (const leftOut of groups)
    rows.push({ without: leftOut.map((party) => names[party]), metrics: (await trainWithout(job, leftOut)).metrics });
  return rows;
}

/** All training and validation rows; those of a validation file come last, as at the parties. */
export function withValidation({
  train,
  validation,
  validationFraction,
  job: { training },
}: Pick<OnePlaceJob, "job" | "train" | "validation" | "validationFraction">): {
  /** One per party. */
  readonly tables: readonly PartyTable[];
  readonly rows: TrainingRows;
} {
  const count = train[0].ids.length;
  if (validation) {
    const tables = train.map((table, party) => joinTables([table, validation[party]]));
    const held = Uint32Array.from(validation[0].ids, (_, i) => count + i);
    return { tables, rows: rowsOfTable(tables[0], held) };
  }
  const held =
    validationFraction === undefined
      ? null
      : drawnGroups(train[0].rowColumns ?? noColumns, count, (units) =>
          validationRows(units, validationFraction, training.seed),
        );
  return { tables: train, rows: rowsOfTable(train[0], held) };
}
