/** Figures on categories against XGBoost itself, where both are at hand: the same rows, the same parameters. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { codecParameters, resolveParameters, trainingParameters } from "../src/base/parameters/parameters.ts";
import { CategoryBook } from "../src/data/category-book.ts";
import { columnIndex, labelColumn } from "../src/data/columns.ts";
import { readCsvTable } from "../src/data/csv-table.ts";
import { type PartyTable, selectRows } from "../src/data/dataset.ts";
import { featureColumns } from "../src/data/feature-columns.ts";
import { splitRows, validationRows } from "../src/data/split.ts";
import { trainInOnePlace } from "../src/experiment/simulate/comparison.ts";
import { otherRows } from "../src/gbdt/boost/boosting-task.ts";

const folder = process.env["TANDEM_DATA"] ?? fileURLToPath(new URL("../../shared/data", import.meta.url));
const python = ["python3", "/usr/bin/python3"].find(
  (each) => spawnSync(each, ["-c", "import xgboost"], { stdio: "ignore" }).status === 0,
);
const bank = join(folder, "bank", "bank-full.csv.gz");
const bankAbsent = !existsSync(bank) || python === undefined;
if (bankAbsent)
  console.warn(
    "xgboost-figures: figures on categories are not compared: " +
      "Bank Marketing (TANDEM_DATA) or a python3 with xgboost is not here",
  );

describe.skipIf(bankAbsent)("Bank Marketing", () => {
  test.each([
    { num_round: 40, max_depth: 5, eta: 0.3 },
    { num_round: 12, max_depth: 5, eta: 0.3, max_cat_to_onehot: 20 },
  ])(
    "nine columns of categories, %o: AUC on 11,303 test rows within 0.003 of XGBoost's, both stopped early",
    async (given) => {
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
      const { train, test: held } = splitRows(csv.rowCount, 0.25, 7);
      const validation = validationRows(train.length, 0.2, 7);
      const parameters = { objective: "binary:logistic", lambda: 1, max_bin: 64, early_stopping_rounds: 10, ...given };
      const input = JSON.stringify({
        columns: read.features.map((column) => Array.from(column, (value) => (Number.isNaN(value) ? null : value))),
        types: names.map((name) => (Object.hasOwn(read.categories, name) ? "c" : "float")),
        labels: [...labels],
        train: [...otherRows(validation, train.length)].map((row) => train[row]),
        validation: [...validation].map((row) => train[row]),
        test: [...held],
        parameters,
      });
      const script = fileURLToPath(new URL("fixtures/xgboost/figures_categorical.py", import.meta.url));
      const { status, stdout, stderr } = spawnSync(python ?? "python3", ["-B", script], {
        input,
        encoding: "utf8",
        maxBuffer: 1 << 24,
      });
      expect(stderr).not.toContain("Error");
      expect(status).toBe(0);
      const theirs = JSON.parse(stdout) as { auc: number; rounds: number };
      const training = resolveParameters(trainingParameters, {
        ...parameters,
        enable_categorical: true,
        eval_metric: "auc",
      });
      const { model, testMetrics } = await trainInOnePlace({
        train: [selectRows(whole, train)],
        test: [selectRows(whole, held)],
        training,
        codec: resolveParameters(codecParameters, {}),
        keyBits: 2048,
        validationFraction: 0.2,
      });
      const ours = testMetrics?.["auc"] ?? 0;
      console.log(
        `xgboost-figures: bank, ${JSON.stringify(given)}: auc ${ours.toFixed(5)} after ${model.trees.length} rounds, ` +
          `XGBoost ${theirs.auc.toFixed(5)} after ${theirs.rounds}`,
      );
      expect(Math.abs(ours - theirs.auc)).toBeLessThan(0.003);
      expect(
        model.trees.flat().filter((node) => node.kind === "split" && node.rule.categories !== undefined).length,
      ).toBeGreaterThan(60);
    },
    300_000,
  );
});
