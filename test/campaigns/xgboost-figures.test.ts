/**
 * Figures on real data against XGBoost itself, where both are at hand: the same rows, the same parameters. Some cases,
 * on fewer rows than there are; TANDEM_FIGURES=1 takes all of them and writes docs/xgboost.md.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { resolveParameters } from "../../src/base/parameters/parameters.ts";
import { trainingParameters } from "../../src/gbdt/parameters/training-parameters.ts";
import { columnIndex, numericColumn } from "../../src/data/columns.ts";
import { type CsvTable, readCsvTable } from "../../src/data/csv-table.ts";
import { type PartyTable, selectRows } from "../../src/data/dataset.ts";
import { drawRows, validationRows } from "../../src/data/split.ts";
import { trainInOnePlace } from "../../src/simulate/comparison.ts";
import { otherRows } from "../../src/base/rows/row-numbers.ts";
import type { MetricName } from "../../src/gbdt/metric/metrics.ts";
import { treesPerBoostingRound } from "../../src/protocol/job-parameters.ts";
import { foldsOf, refreshedMetrics, searched } from "../support/figure-jobs.ts";
import { figuresPage } from "../support/figures-page.ts";
import { figureCells, tableLine, writeSections } from "../support/xgboost-page.ts";
import { resolveJob } from "../../src/party/resolve-job.ts";

const folder = process.env["TANDEM_DATA"] ?? fileURLToPath(new URL("../../../shared/data", import.meta.url));
const file = join(folder, "giveme", "cs-training.csv.gz");
const python = ["python3", "/usr/bin/python3"].find(
  (each) => spawnSync(each, ["-c", "import xgboost"], { stdio: "ignore" }).status === 0,
);
const absent = !existsSync(file) || python === undefined;
if (absent)
  console.warn(
    "xgboost-figures: figures are not compared: " +
      "Give Me Some Credit (TANDEM_DATA) or a python3 with xgboost is not here",
  );

const isWhole = process.env["TANDEM_FIGURES"] === "1";
const wanted = isWhole ? { train: 105_000, test: 40_000 } : { train: 12_000, test: 12_000 };
const seed = 7;
const validationFraction = 0.2;
/** Relative. Where both sides draw, they draw different rows and columns. */
const bar = 0.005;

interface Task {
  readonly label: string;
  readonly metric: MetricName;
  /** The label as the objective wants it. */
  readonly labelOf?: (value: number) => number;
}

const tasks = {
  default: { label: "SeriousDlqin2yrs", metric: "auc" },
  age: { label: "age", metric: "rmse" },
  lines: { label: "NumberOfOpenCreditLinesAndLoans", metric: "poisson-nloglik" },
  dependents: { label: "NumberOfDependents", metric: "mlogloss", labelOf: (value: number) => Math.min(value, 3) },
} satisfies Record<string, Task>;

interface Case {
  readonly what: string;
  readonly task: keyof typeof tasks;
  readonly given: Readonly<Record<string, number | string>>;
  readonly weighted?: true;
  readonly monotone?: Readonly<Record<string, -1 | 0 | 1>>;
  /** Groups of features that may split below each other. */
  readonly interactions?: readonly (readonly string[])[];
  /** Rounds of the start model. */
  readonly before?: number;
  /** Trained without the validation rows, which then give the leaves. */
  readonly refreshed?: true;
  /** A trial of a search: the figure is the mean over this number of folds of the training rows. */
  readonly folds?: number;
}

const allCases: readonly Case[] = [
  { what: "binary:logistic, missing values", task: "default", given: {} },
  { what: "reg:squarederror", task: "age", given: { objective: "reg:squarederror" } },
  {
    what: "reg:pseudohubererror",
    task: "age",
    given: { objective: "reg:pseudohubererror", base_score: 50, num_round: 40 },
  },
  { what: "count:poisson", task: "lines", given: { objective: "count:poisson" } },
  {
    what: "multi:softprob, a tree per class",
    task: "dependents",
    given: { objective: "multi:softprob", num_class: 4 },
  },
  { what: "sample weights", task: "default", given: {}, weighted: true },
  { what: "scale_pos_weight", task: "default", given: { scale_pos_weight: 10 } },
  { what: "base_score", task: "default", given: { base_score: 0.07 } },
  { what: "lambda, alpha, gamma", task: "default", given: { lambda: 5, alpha: 3, gamma: 2 } },
  { what: "min_child_weight, max_delta_step", task: "default", given: { min_child_weight: 20, max_delta_step: 0.5 } },
  { what: "subsample", task: "default", given: { subsample: 0.6 } },
  {
    what: "colsample_bytree, bylevel, bynode",
    task: "default",
    given: { colsample_bytree: 0.8, colsample_bylevel: 0.8, colsample_bynode: 0.8 },
  },
  {
    what: "monotone_constraints",
    task: "default",
    given: {},
    monotone: { age: -1, NumberOfTimes90DaysLate: 1, DebtRatio: 1 },
  },
  {
    what: "interaction_constraints",
    task: "default",
    given: {},
    interactions: [
      ["age", "MonthlyIncome", "DebtRatio"],
      ["age", "NumberOfTimes90DaysLate", "RevolvingUtilizationOfUnsecuredLines"],
    ],
  },
  { what: "lossguide, max_leaves", task: "default", given: { grow_policy: "lossguide", max_leaves: 12, max_depth: 6 } },
  { what: "max_depth 0", task: "default", given: { grow_policy: "lossguide", max_leaves: 24, max_depth: 0 } },
  {
    what: "early stopping",
    task: "default",
    given: { eta: 0.5, num_round: 100, early_stopping_rounds: 5, eval_metric: "auc" },
  },
  {
    what: "num_parallel_tree",
    task: "default",
    given: { num_parallel_tree: 4, subsample: 0.6, colsample_bynode: 0.7 },
  },
  { what: "dart, every tree dropped", task: "default", given: { booster: "dart", rate_drop: 1 } },
  { what: "dart", task: "default", given: { booster: "dart", rate_drop: 0.1, one_drop: 1, num_round: 50 } },
  { what: "warm start", task: "default", given: { num_round: 9 }, before: 6 },
  { what: "refresh, with a held-out fifth of the rows", task: "default", given: {}, refreshed: true },
  { what: "cv, or a trial of tune: mean of the same 3 folds", task: "default", given: {}, folds: 3 },
  {
    what: "another trial, same folds",
    task: "default",
    given: { eta: 0.1, max_depth: 6, min_child_weight: 5, lambda: 3 },
    folds: 3,
  },
];

/** Where trees are compared node for node anyway (test/xgboost-golden.test.ts), the figure is for people. */
const cases = isWhole
  ? allCases
  : allCases.filter(({ what }) =>
      [
        "binary:logistic, missing values",
        "count:poisson",
        "multi:softprob, a tree per class",
        "monotone_constraints",
        "interaction_constraints",
        "max_depth 0",
        "early stopping",
        "warm start",
        "refresh, with a held-out fifth of the rows",
        "cv, or a trial of tune: mean of the same 3 folds",
      ].includes(what),
    );

interface Rows {
  readonly train: PartyTable;
  readonly fitting: PartyTable;
  readonly validation: PartyTable;
  readonly test: PartyTable;
}

function rowsOf(csv: CsvTable, { label, labelOf = (value) => value }: Task): Rows {
  const column = (name: string): Float32Array => numericColumn(csv, columnIndex(csv, name), new Set());
  const labels = column(label);
  const names = csv.names.filter((name, i) => i > 0 && name !== label);
  const features = names.map(column);
  const known = Uint32Array.from([...labels.keys()].filter((row) => !Number.isNaN(labels[row])));
  const whole: PartyTable = {
    ids: Array.from(labels, (_, row) => String(row)),
    featureNames: names,
    features,
    labels: Float64Array.from(labels, labelOf),
  };
  const { train, test: held } = drawRows(known.length, wanted, seed);
  const training = selectRows(
    whole,
    train.map((row) => known[row]),
  );
  const validation = validationRows(training.ids.length, validationFraction, seed);
  return {
    train: training,
    fitting: selectRows(training, otherRows(validation, training.ids.length)),
    validation: selectRows(training, validation),
    test: selectRows(
      whole,
      held.map((row) => known[row]),
    ),
  };
}

/** Anything that has nothing to do with the label would do. */
const withWeights = (table: PartyTable): PartyTable => ({
  ...table,
  rowColumns: { weight: Float64Array.from(table.ids, (id) => 0.5 + (Number(id) % 5)) },
});

const part = ({ features, labels, rowColumns }: PartyTable): object => ({
  features: features.map((feature) => Array.from(feature, (value) => (Number.isNaN(value) ? null : value))),
  labels: [...(labels ?? [])],
  ...(rowColumns?.weight ? { weights: [...rowColumns.weight] } : {}),
});

const settings = ({ given }: Case): Record<string, number | string> => ({
  objective: "binary:logistic",
  num_round: 15,
  max_depth: 4,
  eta: 0.3,
  lambda: 1,
  max_bin: 256,
  ...given,
});

async function ours(each: Case, rows: Rows): Promise<{ value: number; rounds: number }> {
  const { metric } = tasks[each.task];
  const { eval_metric: _, ...given } = settings(each);
  const training = resolveParameters(trainingParameters, { ...given, eval_metric: [metric] });
  if (each.folds !== undefined) {
    const { score, bestRound } = await searched(rows.train, training, foldsOf(rows.train, each.folds, seed));
    return { value: score.mean, rounds: bestRound };
  }
  const groups = (each.interactions ?? []).map((names, i): [string, string[]] => [`g${i}`, [...names]]);
  const constraints = {
    monotone_constraints: each.monotone ?? {},
    interaction_constraints: Object.fromEntries(groups),
  };
  const dressed = (table: PartyTable): PartyTable => ({
    ...(each.weighted ? withWeights(table) : table),
    constraints,
  });
  const stops = "early_stopping_rounds" in each.given;
  const job = {
    train: [dressed(each.refreshed ? rows.fitting : rows.train)],
    test: [dressed(rows.test)],
    job: { ...resolveJob({ constraints }), training },
    validationFraction: stops ? validationFraction : undefined,
  };
  const start =
    each.before === undefined
      ? null
      : (await trainInOnePlace({ ...job, job: { ...job.job, training: { ...training, num_round: each.before } } }))
          .model;
  const { model, testMetrics } = await trainInOnePlace({ ...job, start });
  const metrics = each.refreshed ? refreshedMetrics(model, training, rows.validation, rows.test) : testMetrics;
  return {
    value: metrics?.[metric] ?? Number.NaN,
    rounds: model.trees.length / treesPerBoostingRound(training),
  };
}

function theirs(rowsByTask: ReadonlyMap<string, Rows>): { value: number; rounds: number }[] {
  const tables: Record<string, object> = {};
  for (const [task, rows] of rowsByTask) {
    tables[task] = { train: part(rows.train), test: part(rows.test) };
    if (task === "default") {
      tables["weighted"] = { train: part(withWeights(rows.train)), test: part(withWeights(rows.test)) };
      tables["stopped"] = { train: part(rows.fitting), validation: part(rows.validation), test: part(rows.test) };
    }
  }
  const asked = cases.map((each) => {
    const rows = rowsByTask.get(each.task);
    const names = rows?.train.featureNames ?? [];
    const constraints = each.monotone
      ? { monotone_constraints: `(${names.map((name) => each.monotone?.[name] ?? 0).join(",")})` }
      : {};
    const isHeldBack = each.refreshed || "early_stopping_rounds" in each.given;
    const table = each.weighted ? "weighted" : isHeldBack ? "stopped" : each.task;
    const folds = rows && each.folds !== undefined ? foldsOf(rows.train, each.folds, seed) : [];
    return {
      table,
      metric: tasks[each.task].metric,
      refreshed: each.refreshed ?? false,
      folds: folds.map((tested) => [...tested]),
      parameters: {
        ...settings(each),
        ...constraints,
        ...(each.interactions
          ? {
              interaction_constraints: JSON.stringify(
                each.interactions.map((group) => group.map((name) => names.indexOf(name))),
              ),
            }
          : {}),
        ...(each.before === undefined ? {} : { rounds_before: each.before }),
      },
    };
  });
  const script = fileURLToPath(new URL("../fixtures/xgboost/figures.py", import.meta.url));
  const { status, stdout, stderr } = spawnSync(python ?? "python3", ["-B", script], {
    input: JSON.stringify({ tables, cases: asked }),
    encoding: "utf8",
    maxBuffer: 1 << 24,
  });
  expect(stderr).not.toContain("Error");
  expect(status).toBe(0);
  return JSON.parse(stdout) as { value: number; rounds: number }[];
}

describe.skipIf(absent)("Give Me Some Credit", () => {
  test(`every figure is XGBoost's within ${bar} of it`, async () => {
    const rowsByTask = new Map<string, Rows>();
    const csv = await readCsvTable(file);
    for (const [name, task] of Object.entries(tasks)) rowsByTask.set(name, rowsOf(csv, task));
    const expected = theirs(rowsByTask);
    const lines: string[] = [];
    for (const [i, each] of cases.entries()) {
      const rows = rowsByTask.get(each.task);
      if (rows === undefined) throw new Error(each.task);
      const { value, rounds } = await ours(each, rows);
      const relative = value / expected[i].value - 1;
      const { label, metric } = tasks[each.task];
      const parameters = Object.entries(each.given)
        .map(([key, given]) => `${key}=${given}`)
        .join(" ");
      lines.push(
        tableLine([
          each.what,
          label,
          parameters,
          metric,
          ...figureCells(value, expected[i].value),
          `${rounds} / ${expected[i].rounds}`,
        ]),
      );
      if (isWhole || Math.abs(relative) >= bar) console.log(lines[i]);
      expect.soft(Math.abs(relative), each.what).toBeLessThan(bar);
    }
    const common = settings({ what: "", task: "default", given: {} });
    if (isWhole) writeSections(figuresPage({ rows: wanted, seed, common, lines }));
  }, 600_000);
});
