import { describe, expect, test } from "vitest";
import { expectError } from "../../test/support/expect-error.ts";
import type { CsvTable } from "./csv-table.ts";
import { namedColumns, readRowColumns, rowColumnText } from "./row-column.ts";

const table = (cells: readonly string[]): CsvTable => ({
  path: "people.csv",
  names: ["it"],
  columns: [[...cells]],
  rowCount: cells.length,
  lineOf: (row) => row + 2,
});

test("nothing is read where nothing is named", () => {
  expect(readRowColumns(table(["x"]), {})).toEqual({});
  expect(namedColumns({ qid: "a", base_margin: "b", label_upper_bound: undefined })).toEqual([
    ["base_margin", "b"],
    ["qid", "a"],
  ]);
});

test("a base_margin is a float32, as XGBoost has it", () => {
  const { base_margin: margins } = readRowColumns(table([" 0.1 ", "-2e1"]), { base_margin: "it" });
  expect(margins).toEqual(Float64Array.of(Math.fround(0.1), -20));
});

test("weights are numbers from zero up", async () => {
  const weights = (...cells: string[]) => readRowColumns(table(cells), { weight: "it" }).weight;
  expect(weights("0", " 2.5 ", "1e3")).toEqual(Float64Array.of(0, 2.5, 1000));
  await expectError(
    () => weights("1", ""),
    "WEIGHT_INVALID",
    /people\.csv, line 3, column 'it': the weight is missing/,
  );
  await expectError(
    () => weights("1", "-7"),
    "WEIGHT_INVALID",
    /people\.csv, line 3, column 'it': the weight is negative/,
  );
  await expectError(
    () => weights("much"),
    "CELL_UNPARSABLE",
    /people\.csv, line 2, column 'it': the cell is not a number/,
  );
});

test("an upper bound may be unknown, and survives its text", () => {
  const read = (cells: string[]) => readRowColumns(table(cells), { label_upper_bound: "#0" }).label_upper_bound ?? [];
  const bounds = read(["3.5", "", "inf", "+Infinity", "NA"]);
  expect([...bounds]).toEqual([3.5, Infinity, Infinity, Infinity, Infinity]);
  expect(read(Array.from(bounds, rowColumnText))).toEqual(bounds);
});

describe("what cannot be used is named by its line, never by its value", () => {
  test.each([
    ["base_margin", ["1", "secret"]],
    ["base_margin", ["1", ""]],
    ["base_margin", ["1", "1e300"]],
    ["label_upper_bound", ["1", "later"]],
    ["qid", ["1", "1.5"]],
    ["qid", ["1", "-1"]],
    ["qid", ["1", "NA"]],
    ["qid", ["1", "9007199254740993"]],
  ] as const)("%s %o", async (name, cells) => {
    await expectError(
      () => readRowColumns(table(cells), { [name]: "it" }),
      "CELL_UNPARSABLE",
      /^people\.csv, line 3, column 'it': the cell (?!.*(secret|later|1\.5|-1))/,
    );
  });
});
