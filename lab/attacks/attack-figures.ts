/**
 * What semi-honest parties compute from a job, by preset and scheme: tables of docs/leakage.md. Trained in one place,
 * which equals the federated job bit for bit, with a recorder at each passive party.
 */
import { availableParallelism } from "node:os";
import { resolveJob } from "../../src/party/resolve-job.ts";
import type { PartyTable } from "../../src/data/dataset.ts";
import type { PartyExposure } from "../../src/privacy/attack/audit-result.ts";
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
  /** The passive party's columns are dealt to this many. */
  readonly passives: number;
  /** Seconds of the attack on sums, for each scheme and preset. */
  readonly seconds: number;
  readonly onRow: (row: FigureRow) => void;
}

/** Bits are per person, over all columns of the passive parties. Guesses of labels are those of the first one. */
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
  { training, seed, seconds, passives }: FigureOptions,
): Promise<FigureRow> {
  const cut = await table.cut(seed);
  const [train, test] = [cut.train, cut.test].map((tables) => dealt(tables, passives));
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
  const [{ transcript, features, instances, splits }] = parties;
  const exposures: PartyExposure[] = [];
  for (const party of parties) {
    const until = performance.now() + (1000 * seconds) / parties.length;
    const clock = { left: () => Math.max(0, until - performance.now()), progress() {} };
    exposures.push(await exposureOf(party, clock, availableParallelism()));
  }
  const { labels, margins } = trained;
  const judged = margins && { labels, instances, margins, knownCount };
  const bySplits = judged && guessFromOwnSplits(features, splits, judged);
  const byMembers =
    judged && membership.membersAreSent ? guessLabels(transcript, labels, instances, judged.margins, knownCount) : null;
  const counts = job.privacy.hidden_sums ? parties.map((party) => openedCounts(party.transcript)) : [];
  const bounds = exposures.flatMap(({ columns }) => columns.flatMap(({ sumsBound }) => sumsBound ?? []));
  const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
  return {
    table: table.name,
    rows: instances.length,
    columns: total(exposures.map(({ columns }) => columns.length)),
    bits: total(exposures.map(({ bits }) => bits)),
    privacy: name,
    scheme,
    metric: trained.testMetric?.value ?? NaN,
    outcomes: total(exposures.map(({ bits, left }) => bits - left.outcomes)),
    sums: total(exposures.map(({ left }) => left.outcomes - left.sums)),
    bound: bounds.length === 0 ? null : total(bounds),
    nodes: total(transcript.trees.map(({ nodes }) => nodes.length)),
    opened: total(counts.map(({ opened }) => opened)),
    lost: total(counts.map(({ lost }) => lost)),
    model: bySplits?.model ?? null,
    members: byMembers && [byMembers.without.auc, byMembers.withLabels.auc],
    splits: bySplits && [bySplits.without.auc, bySplits.withLabels.auc],
    columnsAlone: (judged && guessFromOwnColumns(features, judged)?.withLabels.auc) ?? null,
  };
}

/** The passive party's columns in turn to each of some. */
function dealt([active, passive]: readonly PartyTable[], passives: number): PartyTable[] {
  const parties = Array.from({ length: passives }, (_, party): PartyTable => {
    const own = passive.featureNames.map((_name, column) => column).filter((column) => column % passives === party);
    return {
      ...passive,
      featureNames: own.map((column) => passive.featureNames[column]),
      features: own.map((column) => passive.features[column]),
    };
  });
  return [active, ...parties];
}
