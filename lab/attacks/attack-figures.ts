/**
 * What semi-honest parties compute from a job, by preset and scheme: tables of docs/leakage.md. Trained in one place,
 * which equals the federated job bit for bit, with a recorder at each passive party.
 */
import { availableParallelism } from "node:os";
import { resolveJob } from "../../src/party/resolve-job.ts";
import { exposureOf } from "../../src/privacy/attack/exposure.ts";
import { guessLabels } from "../../src/privacy/attack/cells.ts";
import { openedCounts } from "../../src/privacy/attack/opened.ts";
import { guessFromOwnColumns, guessFromOwnSplits } from "../../src/privacy/attack/own-splits.ts";
import { trainRecorded } from "../../src/simulate/audit/recorded-training.ts";
import { type MeasuredTable, measuredTables } from "../presets/tables.ts";

export interface FigureOptions {
  readonly data: string;
  /** Only tables whose name contains it. */
  readonly only: string;
  /** By name. */
  readonly privacy: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly training: Readonly<Record<string, unknown>>;
  readonly seed: number;
  /** Seconds of the attack on sums, for each scheme and preset. */
  readonly seconds: number;
  readonly onRow: (row: FigureRow) => void;
}

/** Bits are per person, over all columns of the passive party. */
export interface FigureRow {
  readonly table: string;
  readonly rows: number;
  readonly columns: number;
  readonly bits: number;
  readonly privacy: string;
  readonly scheme: string;
  readonly metric: number;
  readonly outcomes: number;
  /** Proven from sums, beyond outcomes. */
  readonly sums: number;
  /** Upper bound of that; null: sums are exact. */
  readonly bound: number | null;
  readonly nodes: number;
  readonly opened: number;
  readonly lost: number;
  /** AUC of the guesses of labels: by members, without a label and with some; by own splits; by own columns alone. */
  readonly model: number | null;
  readonly members: readonly [number, number] | null;
  readonly splits: readonly [number, number] | null;
  readonly columnsAlone: number | null;
}

const base = { num_round: 50, max_depth: 3, max_bin: 32, eta: 0.3 };
const knownCount = 200;
const schemes = ["paillier", "lattice"] as const;

export async function measureAttacks(options: FigureOptions): Promise<void> {
  const tables = measuredTables(options.data).filter(
    ({ name, objective }) => objective === "binary:logistic" && name.includes(options.only),
  );
  for (const table of tables)
    for (const [name, privacy] of Object.entries(options.privacy))
      for (const scheme of schemes) options.onRow(await figuresOf(table, name, privacy, scheme, options));
}

async function figuresOf(
  table: MeasuredTable,
  name: string,
  privacy: Readonly<Record<string, unknown>>,
  scheme: string,
  { training, seed, seconds }: FigureOptions,
): Promise<FigureRow> {
  const { train, test } = await table.cut(seed);
  const isCategorical = [...train, ...test].some(({ categories = {} }) => Object.keys(categories).length > 0);
  const job = resolveJob({
    scheme,
    training: {
      ...base,
      ...training,
      seed,
      objective: table.objective,
      ...(isCategorical && { enable_categorical: true, max_cat_to_onehot: 64 }),
    },
    privacy,
  });
  const trained = await trainRecorded({ job, train, test, names: train.map((_, i) => `party ${i}`) });
  const [{ parties, membership }] = trained.schemes;
  const [party] = parties;
  const { transcript, features, instances, splits } = party;
  const until = performance.now() + 1000 * seconds;
  const clock = { left: () => Math.max(0, until - performance.now()), progress() {} };
  const exposure = await exposureOf(party, clock, availableParallelism());
  const { labels, margins } = trained;
  const judged = margins && { labels, instances, margins, knownCount };
  const bySplits = judged && guessFromOwnSplits(features, splits, judged);
  const byMembers =
    judged && membership.membersAreSent ? guessLabels(transcript, labels, instances, judged.margins, knownCount) : null;
  const { opened, lost } = job.privacy.hidden_sums ? openedCounts(transcript) : { opened: 0, lost: 0 };
  const bounds = exposure.columns.flatMap(({ sumsBound }) => sumsBound ?? []);
  return {
    table: table.name,
    rows: instances.length,
    columns: features.length,
    bits: exposure.bits,
    privacy: name,
    scheme,
    metric: trained.testMetric?.value ?? NaN,
    outcomes: exposure.bits - exposure.left.outcomes,
    sums: exposure.left.outcomes - exposure.left.sums,
    bound: bounds.length === 0 ? null : bounds.reduce((sum, bound) => sum + bound, 0),
    nodes: transcript.trees.reduce((sum, { nodes }) => sum + nodes.length, 0),
    opened,
    lost,
    model: bySplits?.model ?? null,
    members: byMembers && [byMembers.without.auc, byMembers.withLabels.auc],
    splits: bySplits && [bySplits.without.auc, bySplits.withLabels.auc],
    columnsAlone: (judged && guessFromOwnColumns(features, judged)?.withLabels.auc) ?? null,
  };
}
