/**
 * Figures on categories against XGBoost itself, where it is at hand: the same rows, the same parameters.
 * TANDEM_FIGURES=1 writes them to docs/xgboost.md.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { resolveJob } from "../../src/party/resolve-job.ts";
import { SeededRandom } from "../../src/base/random.ts";
import { CategoryBook } from "../../src/data/category-book.ts";
import { columnIndex, labelColumn } from "../../src/data/columns.ts";
import { readCsvTable } from "../../src/data/csv-table.ts";
import { type PartyTable, selectRows } from "../../src/data/dataset.ts";
import { featureColumns } from "../../src/data/feature-columns.ts";
import { splitRows, validationRows } from "../../src/data/split.ts";
import { trainInOnePlace } from "../../src/simulate/comparison.ts";
import { otherRows } from "../../src/base/rows/row-numbers.ts";
import type { Model } from "../../src/gbdt/tree/model.ts";
import { figureCells, tableLine, writeSections } from "../support/xgboost-page.ts";
import { askPython, pythonWithXgboost } from "../support/xgboost.ts";

const folder = process.env["TANDEM_DATA"] ?? fileURLToPath(new URL("../../../shared/data", import.meta.url));
const python = pythonWithXgboost();
const bank = join(folder, "bank", "bank-full.csv.gz");
const bankAbsent = !existsSync(bank) || python === undefined;
if (bankAbsent)
  console.warn(
    "xgboost-figures: figures on categories are not compared: " +
      "Bank Marketing (TANDEM_DATA) or a python3 with xgboost is not here",
  );

const isWritten = process.env["TANDEM_FIGURES"] === "1";
const seed = 7;
const validationFraction = 0.2;
const common = { objective: "binary:logistic", lambda: 1, max_bin: 64 };

interface Case {
  readonly what: string;
  readonly table: PartyTable;
  readonly test: PartyTable;
  readonly metric: "auc" | "logloss";
  readonly given: Readonly<Record<string, number>>;
}

const part = ({ features, labels }: PartyTable): object => ({
  features: features.map((column) => Array.from(column, (value) => (Number.isNaN(value) ? null : value))),
  labels: [...(labels ?? [])],
});

const stopsEarly = (given: Case["given"]): boolean => "early_stopping_rounds" in given;

/** As a job that stops early cuts its training rows. */
function learntAndHeld(table: PartyTable): { train: object; validation: object } {
  const held = validationRows(table.ids.length, validationFraction, seed);
  return {
    train: part(selectRows(table, otherRows(held, table.ids.length))),
    validation: part(selectRows(table, held)),
  };
}

interface Theirs {
  readonly value: number;
  readonly rounds: number;
  /** Of the first split. */
  readonly gain: number;
}

function theirs(cases: readonly Case[]): Theirs[] {
  const tables = [...new Set(cases.map(({ table }) => table))];
  const script = fileURLToPath(new URL("../fixtures/xgboost/figures.py", import.meta.url));
  const input = {
    tables: Object.fromEntries(
      tables.map((table, i) => {
        const { test: held, given } = cases.find((each) => each.table === table) ?? cases[0];
        const types = table.featureNames.map((name) => (Object.hasOwn(table.categories ?? {}, name) ? "c" : "float"));
        const parts = stopsEarly(given) ? learntAndHeld(table) : { train: part(table) };
        return [i, { ...parts, test: part(held), types }];
      }),
    ),
    cases: cases.map(({ table, metric, given }) => ({
      table: String(tables.indexOf(table)),
      metric,
      parameters: { ...common, ...given },
    })),
  };
  return askPython(script, input) as Theirs[];
}

async function ours({ table, test: held, metric, given }: Case): Promise<Theirs & { model: Model }> {
  const { model, testMetrics } = await trainInOnePlace({
    train: [table],
    test: [held],
    job: resolveJob({ training: { ...common, ...given, enable_categorical: true, eval_metric: metric } }),
    validationFraction: stopsEarly(given) ? validationFraction : undefined,
  });
  const [root] = model.trees[0];
  const gain = root.kind === "split" ? root.gain : 0;
  return { model, value: testMetrics?.[metric] ?? Number.NaN, rounds: model.trees.length, gain };
}

async function bankMarketing(): Promise<{ table: PartyTable; test: PartyTable }> {
  const csv = await readCsvTable(bank);
  const names = csv.names.filter((name) => name !== "y" && name !== "duration");
  const read = featureColumns(csv, {
    columns: names.map((name) => columnIndex(csv, name)),
    names,
    missing: [],
    categorical: [],
    text: "categories",
    book: new CategoryBook(),
  });
  expect(Object.keys(read.categories)).toHaveLength(9);
  const labels = labelColumn(csv, columnIndex(csv, "y"), "yes");
  const whole: PartyTable = { ids: Array.from({ length: csv.rowCount }, (_, row) => String(row)), ...read, labels };
  const { train, test: held } = splitRows(csv.rowCount, 0.25, seed);
  return { table: selectRows(whole, train), test: selectRows(whole, held) };
}

/**
 * One column of 100 categories, frequent and rare ones, each with an effect of its own. Codes are those that Tandem
 * gives: the most frequent first. Among categories of the same weight the lower code comes first, in XGBoost too.
 */
function generated(missingFraction: number): { table: PartyTable; test: PartyTable } {
  const random = new SeededRandom("a column of categories");
  const effects = Array.from({ length: 100 }, () => random.normal());
  const drawn = Float32Array.from({ length: 10_000 }, () =>
    random.uniform() < missingFraction ? Number.NaN : Math.min(random.below(100), random.below(100)),
  );
  const chance = (code: number): number => 1 / (1 + Math.exp(Number.isNaN(code) ? -1 : -effects[code]));
  const { train, test: held } = splitRows(drawn.length, 0.25, seed);
  const counts = new Map<number, number>();
  for (const row of train) counts.set(drawn[row], (counts.get(drawn[row]) ?? 0) + 1);
  const byFrequency = [...effects.keys()].sort((a, b) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0));
  const whole: PartyTable = {
    ids: Array.from(drawn, (_, row) => String(row)),
    featureNames: ["kind"],
    features: [drawn.map((code) => (Number.isNaN(code) ? code : byFrequency.indexOf(code)))],
    categories: { kind: { names: effects.map((_, code) => `kind ${String(code).padStart(2, "0")}`), where: "" } },
    labels: Float64Array.from(drawn, (code) => (random.uniform() < chance(code) ? 1 : 0)),
  };
  return { table: selectRows(whole, train), test: selectRows(whole, held) };
}

describe.skipIf(bankAbsent)("categories", () => {
  test("AUC of Bank Marketing within 0.003 of XGBoost's, both stopped early; a stump's gain to 1e-4", async () => {
    const marketing = { ...(await bankMarketing()), what: "Bank Marketing, 9 of 15 columns", metric: "auc" } as const;
    const deep = { num_round: 40, max_depth: 5, eta: 0.3, early_stopping_rounds: 10 };
    const stump = { num_round: 1, max_depth: 1, eta: 0.3, max_cat_threshold: 64 };
    const cases: readonly Case[] = [
      { ...marketing, given: deep },
      { ...marketing, given: { ...deep, num_round: 12, max_cat_to_onehot: 20 } },
      { ...generated(0), what: "a column of 100 categories", metric: "logloss", given: stump },
      { ...generated(0.15), what: "the same, 15% missing", metric: "logloss", given: stump },
    ];
    const expected = theirs(cases);
    const lines: string[] = [];
    for (const [i, each] of cases.entries()) {
      const { model, value, rounds, gain } = await ours(each);
      const parameters = Object.entries(each.given).map(([key, given]) => `${key}=${given}`);
      const line = (metric: string, own: number, other: number): string =>
        tableLine([
          each.what,
          parameters.join(" "),
          metric,
          ...figureCells(own, other),
          `${rounds} / ${expected[i].rounds}`,
        ]);
      lines.push(line(each.metric, value, expected[i].value));
      const sets = model.trees.flat().filter((node) => node.kind === "split" && node.rule.categories !== undefined);
      if (each.metric === "auc") {
        expect(Math.abs(value - expected[i].value)).toBeLessThan(0.003);
        expect(sets.length).toBeGreaterThan(60);
      } else {
        lines.push(line("gain of the split", gain, expected[i].gain));
        expect(sets).toHaveLength(1);
        expect(Math.abs(gain / expected[i].gain - 1)).toBeLessThan(1e-4);
        expect(Math.abs(value / expected[i].value - 1)).toBeLessThan(1e-5);
      }
    }
    if (!isWritten) return;
    console.log(lines.join("\n"));
    writeSections(section(lines));
  }, 300_000);
});

function section(lines: readonly string[]): string {
  const parameters = Object.entries(common).map(([key, value]) => `\`${key}=${value}\``);
  return `## Categories

Categorical features (\`enable_categorical\`), compared with XGBoost 1.7.4. Splits are sets of categories, or one
category with \`max_cat_to_onehot\`.

- Bank Marketing: 33,908 training rows, a fifth of them for early stopping, and 11,303 test rows.
- The column of 100 categories is synthetic: 7,500 training rows, 2,500 test rows, one split.
- Categories of equal weight are ordered by their codes. Tandem numbers the most frequent first, so XGBoost is given
  these codes. With other codes sets may differ by such categories, above all where many are rare. With
  \`bin_cuts=xgboost\` Tandem has the codes of pandas, and the sets of XGBoost
  ([held-out rows](#held-out-rows)).
- With the same bins, trees are equal node for node (test/xgboost-categorical.test.ts).

Parameters, unless the row says otherwise: ${parameters.join(", ")}.

| data | parameters | metric | Tandem | XGBoost | difference | rounds |
|---|---|---|---|---|---|---|
${lines.join("\n")}

Written by \`TANDEM_CAMPAIGN=1 TANDEM_FIGURES=1 npx vitest run test/campaigns/xgboost-figures-categorical.test.ts\`.
`;
}
