/** Figures on real data against XGBoost itself, where both are at hand: the same rows, the same parameters. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { codecParameters, resolveParameters, trainingParameters } from "../src/base/parameters.ts";
import { columnIndex, labelColumn, numericColumn } from "../src/data/columns.ts";
import { readCsvTable } from "../src/data/csv-table.ts";
import { type PartyTable, selectRows } from "../src/data/dataset.ts";
import { splitRows } from "../src/data/split.ts";
import { trainInOnePlace } from "../src/experiment/comparison.ts";

const folder = process.env["TANDEM_DATA"] ?? fileURLToPath(new URL("../../shared/data", import.meta.url));
const file = join(folder, "giveme", "cs-training.csv.gz");
const label = "SeriousDlqin2yrs";
const python = ["python3", "/usr/bin/python3"].find((each) => spawnSync(each, ["-c", "import xgboost"], { stdio: "ignore" }).status === 0);
const absent = !existsSync(file) || python === undefined;
if (absent) console.warn("xgboost-figures: Give Me Some Credit (TANDEM_DATA) or a python3 with xgboost is not here; figures are not compared");

const cases = [
  { max_depth: 4 },
  { max_depth: 6, grow_policy: "lossguide", max_leaves: 12, alpha: 3, max_delta_step: 0.8 },
  { max_depth: 4, scale_pos_weight: 10 },
  { max_depth: 4, subsample: 0.6, colsample_bynode: 0.7 },
  { max_depth: 4, num_round: 9, rounds_before: 6 },
  { max_depth: 0, grow_policy: "lossguide", max_leaves: 24 },
].map((given) => ({ objective: "binary:logistic", num_round: 15, eta: 0.3, lambda: 1, max_bin: 32, ...given }));

describe.skipIf(absent)("Give Me Some Credit", () => {
  test("AUC on 45,000 test rows is XGBoost's within 0.005 of it", async () => {
    const csv = await readCsvTable(file);
    const { train, test: held } = splitRows(csv.rowCount, 0.3, 7);
    const names = csv.names.filter((name, i) => i > 0 && name !== label);
    const whole: PartyTable = {
      ids: Array.from({ length: csv.rowCount }, (_, row) => String(row)),
      featureNames: names,
      features: names.map((name) => numericColumn(csv, columnIndex(csv, name), new Set())),
      labels: labelColumn(csv, columnIndex(csv, label)),
    };
    const input = JSON.stringify({ file, label, train: [...train], test: [...held], cases });
    const script = fileURLToPath(new URL("fixtures/xgboost/figures.py", import.meta.url));
    const { status, stdout, stderr } = spawnSync(python ?? "python3", ["-B", script], { input, encoding: "utf8", maxBuffer: 1 << 24 });
    expect(stderr).not.toContain("Error");
    expect(status).toBe(0);
    const theirs = JSON.parse(stdout) as number[];
    for (const [i, given] of cases.entries()) {
      const { rounds_before: before, ...values } = given;
      const training = resolveParameters(trainingParameters, values);
      const job = { train: [selectRows(whole, train)], test: [selectRows(whole, held)], training, codec: resolveParameters(codecParameters, {}), keyBits: 2048 };
      const start = before === undefined ? null : (await trainInOnePlace({ ...job, training: { ...training, num_round: before } })).model;
      const { testMetrics } = await trainInOnePlace({ ...job, start });
      const ours = testMetrics?.["auc"] ?? 0;
      console.log(`xgboost-figures: ${JSON.stringify(given)}: auc ${ours.toFixed(5)}, XGBoost ${theirs[i].toFixed(5)}`);
      expect(Math.abs(ours / theirs[i] - 1), JSON.stringify(given)).toBeLessThan(0.005);
    }
  }, 300_000);
});
