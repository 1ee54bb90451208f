/**
 * Every objective and metric on real data against XGBoost 2, where both are at hand and TANDEM_FIGURES=1 asks for it:
 * docs/xgboost.md gets the figures. Trees are compared node for node in test/xgboost-objectives.test.ts.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { resolveJob } from "../../src/party/resolve-job.ts";
import { mapColumns, type RowColumnName } from "../../src/base/rows/row-columns.ts";
import { columnIndex, numericColumn } from "../../src/data/columns.ts";
import { readCsvTable } from "../../src/data/csv-table.ts";
import { type PartyTable, selectRows } from "../../src/data/dataset.ts";
import { drawRows } from "../../src/data/split.ts";
import { trainInOnePlace } from "../../src/simulate/comparison.ts";
import { figureCells, tableLine, writeSections } from "../support/xgboost-page.ts";
import { xgboostMajor, pythonWithXgboost } from "../support/xgboost.ts";

const folder = process.env["TANDEM_DATA"] ?? fileURLToPath(new URL("../../../shared/data", import.meta.url));
const file = join(folder, "giveme", "cs-training.csv.gz");
const isAsked = process.env["TANDEM_FIGURES"] === "1" && existsSync(file) && xgboostMajor() > 1;

const rows = { train: 30_000, test: 20_000 };
const seed = 7;
/** Relative. */
const bar = 0.01;
const common = { num_round: 15, max_depth: 4, eta: 0.3, lambda: 1, max_bin: 256 };

/** The values of a row by column. */
type Row = (column: string) => number;

interface Case {
  readonly objective: string;
  /** Left out of the features; the first is the label's. */
  readonly uses: readonly string[];
  readonly label: (row: Row) => number;
  readonly columns?: Partial<Record<RowColumnName, (row: Row, id: number) => number>>;
  readonly given?: Readonly<Record<string, number | string>>;
  readonly metrics: readonly string[];
}

const late = "SeriousDlqin2yrs";
const isLate = (row: Row): boolean => row(late) === 1;
const lines = "NumberOfOpenCreditLinesAndLoans";
const cases: readonly Case[] = [
  {
    objective: "reg:logistic",
    uses: ["RevolvingUtilizationOfUnsecuredLines"],
    label: (row) => Math.min(1, row("RevolvingUtilizationOfUnsecuredLines")),
    metrics: ["logloss", "rmse"],
  },
  {
    objective: "binary:logitraw",
    uses: [late],
    label: (row) => row(late),
    given: { base_score: 0 },
    metrics: ["auc"],
  },
  { objective: "binary:hinge", uses: [late], label: (row) => row(late), metrics: ["error"] },
  {
    objective: "binary:logistic",
    uses: [late],
    label: (row) => row(late),
    given: { base_score: 0.5 },
    metrics: ["error@0.2", "aucpr"],
  },
  {
    objective: "reg:gamma",
    uses: ["age"],
    label: (row) => Math.max(row("age"), 1),
    given: { base_score: 50 },
    metrics: ["gamma-nloglik", "gamma-deviance"],
  },
  {
    objective: "reg:tweedie",
    uses: ["MonthlyIncome"],
    label: (row) => row("MonthlyIncome") / 1000,
    given: { base_score: 5 },
    metrics: ["tweedie-nloglik@1.5"],
  },
  { objective: "reg:absoluteerror", uses: ["age"], label: (row) => row("age"), metrics: ["mae", "mape"] },
  {
    objective: "reg:pseudohubererror",
    uses: ["age"],
    label: (row) => row("age"),
    given: { base_score: 50, huber_slope: 5 },
    metrics: ["mphe"],
  },
  {
    objective: "reg:quantileerror",
    uses: ["age"],
    label: (row) => row("age"),
    given: { quantile_alpha: 0.9 },
    metrics: ["quantile"],
  },
  {
    objective: "multi:softmax",
    uses: ["NumberOfDependents"],
    label: (row) => Math.min(row("NumberOfDependents"), 3),
    given: { num_class: 4 },
    metrics: ["merror", "mlogloss", "auc"],
  },
  {
    objective: "survival:cox",
    uses: ["age", late],
    label: (row) => row("age") * (isLate(row) ? 1 : -1),
    given: { base_score: 0.5 },
    metrics: ["cox-nloglik"],
  },
  {
    objective: "survival:aft",
    uses: ["age", late],
    label: (row) => row("age"),
    columns: { label_upper_bound: (row) => (isLate(row) ? row("age") : Infinity) },
    given: { base_score: 50 },
    metrics: ["aft-nloglik", "interval-regression-accuracy"],
  },
  {
    objective: "rank:pairwise",
    uses: [late],
    label: (row) => row(late),
    columns: { qid: (_, id) => id % 500 },
    given: { base_score: 0.5 },
    metrics: ["ndcg@10", "map@10", "pre@10"],
  },
  {
    objective: "rank:ndcg",
    uses: [late],
    label: (row) => row(late),
    columns: { qid: (_, id) => id % 500 },
    given: { base_score: 0.5 },
    metrics: ["ndcg@10"],
  },
  {
    objective: "count:poisson",
    uses: [lines, "age"],
    label: (row) => row(lines),
    columns: { base_margin: (row) => Math.fround(Math.log(Math.max(row("age"), 18) / 50)) },
    metrics: ["poisson-nloglik"],
  },
];

async function tableOf({ uses, label, columns = {} }: Case): Promise<{ train: PartyTable; test: PartyTable }> {
  const csv = await readCsvTable(file);
  const values = new Map(csv.names.slice(1).map((name, i) => [name, numericColumn(csv, i + 1, new Set())]));
  const ids = numericColumn(csv, columnIndex(csv, "#0"), new Set());
  const at =
    (row: number): Row =>
    (column) =>
      values.get(column)?.[row] ?? NaN;
  const known = [...ids.keys()].filter((row) => uses.every((name) => !Number.isNaN(at(row)(name))));
  const groupOf = columns.qid;
  if (groupOf !== undefined) known.sort((a, b) => groupOf(at(a), ids[a]) - groupOf(at(b), ids[b]) || a - b);
  const features = [...values.keys()].filter((name) => !uses.includes(name));
  const column = (of: (row: Row, id: number) => number): Float64Array =>
    Float64Array.from(known, (row) => of(at(row), ids[row]));
  const whole: PartyTable = {
    ids: known.map(String),
    featureNames: features,
    features: features.map((name) => Float32Array.from(known, (row) => at(row)(name))),
    labels: column(label),
    rowColumns: Object.fromEntries(Object.entries(columns).map(([name, of]) => [name, column(of)])),
  };
  const drawn = drawRows(known.length, rows, seed);
  return { train: selectRows(whole, drawn.train), test: selectRows(whole, drawn.test) };
}

const part = ({ features, labels, rowColumns = {} }: PartyTable): object => ({
  features: features.map((feature) => Array.from(feature, (value) => (Number.isNaN(value) ? null : value))),
  labels: [...(labels ?? [])],
  ...mapColumns(rowColumns, (column) => Array.from(column, (value) => (value === Infinity ? null : value))),
});

describe.skipIf(!isAsked)("Give Me Some Credit", () => {
  test("every objective's figures are XGBoost's", async () => {
    const tables = await Promise.all(cases.map(tableOf));
    const asked = cases.map(({ objective, given, metrics }, i) => ({
      train: part(tables[i].train),
      test: part(tables[i].test),
      metrics,
      parameters: { ...common, objective, ...given },
    }));
    const script = fileURLToPath(new URL("../fixtures/xgboost/figures_objectives.py", import.meta.url));
    const { status, stdout, stderr } = spawnSync(pythonWithXgboost() ?? "python3", ["-B", script], {
      input: JSON.stringify(asked),
      encoding: "utf8",
      maxBuffer: 1 << 24,
    });
    expect(status, stderr).toBe(0);
    const { version, figures } = JSON.parse(stdout) as { version: string; figures: Record<string, number>[] };
    const lines: string[] = [];
    for (const [i, { objective, columns = {}, given = {}, metrics }] of cases.entries()) {
      const { testMetrics } = await trainInOnePlace({
        train: [tables[i].train],
        test: [tables[i].test],
        job: resolveJob({ training: { ...common, objective, ...given, eval_metric: [...metrics] } }),
      });
      for (const metric of metrics) {
        const [ours, theirs] = [testMetrics?.[metric] ?? NaN, figures[i][metric]];
        const relative = ours / theirs - 1;
        const settings = [...Object.keys(columns), ...Object.entries(given).map(([key, value]) => `${key}=${value}`)];
        lines.push(tableLine([objective, settings.join(" "), metric, ...figureCells(ours, theirs)]));
        console.log(lines[lines.length - 1]);
        expect.soft(Math.abs(relative), `${objective} ${metric}`).toBeLessThan(bar);
      }
    }
    writeSections(section(version, lines));
  }, 600_000);
});

function section(version: string, lines: readonly string[]): string {
  const count = (of: number): string => of.toLocaleString("en");
  return `## Objectives and metrics

The other objectives and metrics, compared with XGBoost ${version}: ${count(rows.train)} training rows and
${count(rows.test)} test rows of the same table. [objectives.md](objectives.md) describes them. With the same bins,
trees are equal node for node (test/xgboost-objectives.test.ts).

| objective | columns and parameters | metric | Tandem | XGBoost | difference |
|---|---|---|---|---|---|
${lines.join("\n")}

Written by \`TANDEM_CAMPAIGN=1 TANDEM_FIGURES=1 npx vitest run test/campaigns/xgboost-figures-objectives.test.ts\`,
with XGBoost 2 installed in Python.
`;
}
