/** The yardsticks beside a federated job: all data in one place, the active party alone, and everybody but one. */
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
import { treesPerLayer } from "../protocol/job-parameters.ts";
import { noiseSecretFrom } from "../party/noise-secret.ts";
import { simulatedSecret } from "./federation.ts";

export interface OnePlaceJob {
  /** With the codec as it was asked for. */
  readonly job: Job;
  /** Index 0 is the active party; its labels count. */
  readonly train: readonly PartyTable[];
  readonly test: readonly PartyTable[] | null;
  /** Share of the training rows that is evaluated after every round instead of trained on. */
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
  const { model, metrics } = await trainWithout(job, []);
  return { model, testMetrics: metrics.test };
}

/** @param leftOut parties whose columns do not take part; the others draw their columns as before */
function trainWithout(given: OnePlaceJob, leftOut: readonly number[]): Promise<PlainResult> {
  const { tables, rows } = withValidation(given);
  const job = withGrid(given.job, rows.trainedCount);
  const { training } = job;
  const isWhole = leftOut.length === 0;
  // A model of everybody's says nothing of those that are left: they train all of its rounds themselves.
  const before = isWhole ? 0 : (given.start?.trees.length ?? 0) / treesPerLayer(training);
  const takesPart = (_: unknown, party: number): boolean => !leftOut.includes(party);
  return trainPlain({
    job: { ...job, training: { ...training, num_round: training.num_round + before } },
    train: tables.filter(takesPart),
    test: given.test?.filter(takesPart) ?? null,
    rows,
    start: isWhole ? (given.start ?? null) : null,
    samplingSecrets: given.train.map((_, party) => simulatedSecret(party)).filter(takesPart),
    noiseSecrets: given.train.map((_, party) => noiseSecretFrom(simulatedSecret(party))).filter(takesPart),
  });
}

/** What a model is worth without some parties' columns. */
export interface ContributionRow {
  /** Their names; empty: with everybody's. */
  readonly without: readonly string[];
  readonly metrics: PlainResult["metrics"];
}

/**
 * Everybody, everybody but each passive party in turn, and the active party alone: what somebody's columns add to those
 * of the others. Shares of gain do not say that: what two parties both know is credited to the one that won the splits.
 * @param names of all parties, the active one first
 * @param everybody the first row, which is the federated job's
 */
export async function contributionOf(
  job: OnePlaceJob,
  names: readonly string[],
  everybody: PlainResult["metrics"],
): Promise<ContributionRow[]> {
  const passives = names.flatMap((_, party) => (party === 0 ? [] : [party]));
  const groups = [...(passives.length > 1 ? passives.map((party) => [party]) : []), passives];
  const rows: ContributionRow[] = [{ without: [], metrics: everybody }];
  for (const leftOut of groups)
    rows.push({ without: leftOut.map((party) => names[party]), metrics: (await trainWithout(job, leftOut)).metrics });
  return rows;
}

/** All rows that take part, those of a validation file last as the parties have them. */
export function withValidation({
  train,
  validation,
  validationFraction,
  job: { training },
}: Pick<OnePlaceJob, "job" | "train" | "validation" | "validationFraction">): {
  /** Per party. */
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
