/**
 * What a preset costs: the share of the federation's gain that it keeps, (metric - active party alone) / (exact -
 * alone), over splits of the rows and draws of noise. Trained in one place, which equals the federated job bit for bit.
 */
import { noiseSecretFrom } from "../../src/party/noise-secret.ts";
import { withGrid } from "../../src/party/job-grid.ts";
import { resolveJob } from "../../src/party/resolve-job.ts";
import { rowsOfTable } from "../../src/party/tables/table-rows.ts";
import { trainPlain } from "../../src/party/active/plain-training.ts";
import type { PartyTable } from "../../src/data/dataset.ts";
import { type MeasuredTable, measuredTables } from "./tables.ts";

export interface CostOptions {
  readonly data: string;
  readonly rows?: number;
  /** Only tables whose name contains it. */
  readonly only: string;
  readonly privacy: Readonly<Record<string, unknown>>;
  readonly training: Readonly<Record<string, unknown>>;
  readonly splits: readonly number[];
  readonly draws: number;
  readonly onRow: (row: CostRow) => void;
}

export interface CostRow {
  readonly table: string;
  readonly metric: string;
  readonly rows: number;
  /** Means over splits, and draws of noise. */
  readonly alone: number;
  readonly exact: number;
  readonly kept: number;
  /** Per split and draw. */
  readonly shares: readonly number[];
  readonly preset: number;
}

const base = { num_round: 50, max_depth: 3, max_bin: 32, eta: 0.3 };

export async function measurePresets(options: CostOptions): Promise<void> {
  for (const table of measuredTables(options.data, options.rows))
    if (table.name.includes(options.only)) options.onRow(await costOf(table, options));
}

async function costOf(table: MeasuredTable, { privacy, training, splits, draws }: CostOptions): Promise<CostRow> {
  const [alones, exacts, presets, shares]: [number[], number[], number[], number[]] = [[], [], [], []];
  let rows = 0;
  for (const seed of splits) {
    const { train, test } = await table.cut(seed);
    rows = train[0].ids.length;
    const measure = (tables: readonly [PartyTable[], PartyTable[]], defences: object, draw: number): Promise<number> =>
      metricOf(table, { ...base, ...training, seed }, defences, tables, `split ${seed} draw ${draw}`);
    const alone = await measure([[train[0]], [test[0]]], {}, 0);
    const exact = await measure([[...train], test], {}, 0);
    alones.push(alone);
    exacts.push(exact);
    for (let draw = 0; draw < draws; draw++) {
      const value = await measure([[...train], test], privacy, draw);
      presets.push(value);
      shares.push((value - alone) / (exact - alone));
    }
  }
  const means = { alone: mean(alones), exact: mean(exacts), preset: mean(presets) };
  // Of the means: where a split gains little, its own share may be anything.
  const kept = (means.preset - means.alone) / (means.exact - means.alone);
  return { table: table.name, metric: table.metric, rows, shares, kept, ...means };
}

async function metricOf(
  { objective, metric }: MeasuredTable,
  training: object,
  privacy: object,
  [train, test]: readonly [PartyTable[], PartyTable[]],
  draw: string,
): Promise<number> {
  const hasCategories = [...train, ...test].some(({ categories = {} }) => Object.keys(categories).length > 0);
  const rows = rowsOfTable(train[0]);
  const job = resolveJob({
    scheme: "lattice",
    training: { ...training, objective, eval_metric: metric, ...(hasCategories && { enable_categorical: true }) },
    privacy: { ...privacy },
  });
  const { metrics } = await trainPlain({
    job: withGrid(job, rows.trainedCount),
    train,
    test,
    rows,
    samplingSecrets: train.map((_, party) => `party ${party}`),
    noiseSecrets: train.map((_, party) => noiseSecretFrom(`party ${party} ${draw}`)),
  });
  const value = metrics.test?.[metric as keyof typeof metrics.test];
  if (typeof value !== "number") throw new Error(`no ${metric} on the test rows`);
  return value;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
