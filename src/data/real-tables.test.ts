/**
 * Real public tables, read from the folder that TANDEM_DATA names, or from ../shared/data beside the project. Their
 * licences keep them out of the repository, so these tests skip, and say so, where the folder is absent.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { columnIndex, idColumn, labelColumn, numericColumn } from "./columns.ts";
import { readCsvTable } from "./csv-table.ts";

const folder = process.env["TANDEM_DATA"] ?? fileURLToPath(new URL("../../../shared/data", import.meta.url));
const absent = !existsSync(folder);
if (absent)
  console.info(
    "real-tables: skipped, no real data here (set TANDEM_DATA to a folder that has default/, giveme/, bank/)",
  );

function mean(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

describe.skipIf(absent)("real tables", () => {
  it("Default of Credit Card Clients", async () => {
    const table = await readCsvTable(join(folder, "default/UCI_Credit_Card.csv.gz"));
    expect([table.rowCount, table.names.length]).toEqual([30_000, 25]);
    expect(idColumn(table, "ID")[29_999]).toBe("30000");
    expect(mean(labelColumn(table, columnIndex(table, "default.payment.next.month")))).toBeCloseTo(0.2212, 4);
    for (let index = 1; index < 24; index++) expect(numericColumn(table, index, new Set()).includes(NaN)).toBe(false);
  });

  it("Give Me Some Credit: unnamed id column, NA, 150,000 rows", async () => {
    const table = await readCsvTable(join(folder, "giveme/cs-training.csv.gz"));
    expect([table.rowCount, table.names.length, table.names[0]]).toEqual([150_000, 12, ""]);
    expect(idColumn(table, "#0")[0]).toBe("1");
    expect(mean(labelColumn(table, columnIndex(table, "SeriousDlqin2yrs")))).toBeCloseTo(0.0668, 4);
    const missing = (name: string) =>
      numericColumn(table, columnIndex(table, name), new Set()).filter((value) => Number.isNaN(value)).length;
    expect(missing("MonthlyIncome")).toBe(29_731);
    expect(missing("NumberOfDependents")).toBe(3924);
    expect(missing("age")).toBe(0);
  });

  it("Bank Marketing: label in words", async () => {
    const table = await readCsvTable(join(folder, "bank/bank-full.csv.gz"));
    expect(table.rowCount).toBe(45_211);
    expect(mean(labelColumn(table, columnIndex(table, "y"), "yes"))).toBeCloseTo(0.117, 3);
    expect(() => numericColumn(table, columnIndex(table, "job"), new Set(["unknown"]))).toThrow(
      /bank-full\.csv\.gz, line \d+, column 'job'/,
    );
  });

  it("repeated ids in the alignment sample", async () => {
    const table = await readCsvTable(join(folder, "align/breast_hetero_guest_sample_id.csv"));
    expect(table.rowCount).toBe(2139);
    expect(idColumn(table, "mock_id").length).toBe(2139);
    expect(() => idColumn(table, "id")).toThrow(/lines \d+ and \d+ have the same id in column 'id'/);
  });
});
