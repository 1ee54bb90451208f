import { describe, expect, it } from "vitest";
import { TandemError, type ErrorCode } from "../base/error.ts";
import { columnIndex, idColumn, labelColumn, numericColumn, requireBinaryLabels } from "./columns.ts";
import type { CsvTable } from "./csv-table.ts";

/** Rows stand on every second line from 3 on, as after a header of two lines and with blank lines between. */
function tableOf(columns: Record<string, string[]>): CsvTable {
  const cells = Object.values(columns);
  return {
    path: "people.csv",
    names: Object.keys(columns),
    columns: cells,
    rowCount: cells[0].length,
    lineOf: (row) => 3 + 2 * row,
  };
}

function expectError(code: ErrorCode, message: string, run: () => unknown): void {
  let thrown: unknown;
  try {
    run();
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(TandemError);
  expect(thrown).toMatchObject({ code, message: expect.stringContaining(message) });
}

const none = new Set<string>();

describe("cells that are not numbers", () => {
  it.each(["inf", "-inf", "Infinity", "+INF"])("%s is infinite, which is not text", (cell) => {
    const table = tableOf({ debt: ["1.5", cell] });
    expectError("CELL_UNPARSABLE", "line 5, column 'debt': the cell is infinite, and features are finite", () =>
      numericColumn(table, 0, none),
    );
    expect(numericColumn(table, 0, new Set([cell]))).toEqual(Float32Array.of(1.5, NaN));
  });

  it.each(["1,5", "-1.234,50", "0,07"])("%s has a decimal comma", (cell) => {
    expectError("CELL_UNPARSABLE", "line 5, column 'debt': the cell has a decimal comma", () =>
      numericColumn(tableOf({ debt: ["1", cell] }), 0, none),
    );
  });

  it("are text otherwise", () => {
    for (const cell of ["info", "1,5,2", "a,5"])
      expectError("CELL_UNPARSABLE", "the cell is text", () => numericColumn(tableOf({ debt: [cell] }), 0, none));
  });
});

describe("columnIndex", () => {
  const table = tableOf({ "": ["1"], age: ["2"], income: ["3"], "#1": ["4"] });

  it("says of a header with more commas than semicolons how it was read", () => {
    const semicolons = tableOf({ "id;Einkommen": ["1;2"], " netto;Alter": ["5;3"], " in Jahren": ["5"] });
    expectError("COLUMN_UNKNOWN", "people.csv has no column 'id': its header has more commas", () =>
      columnIndex(semicolons, "id"),
    );
  });

  it("finds by name, then by position", () => {
    expect(columnIndex(table, "income")).toBe(2);
    expect(columnIndex(table, " age ")).toBe(1);
    expect(columnIndex(table, "#0")).toBe(0);
    expect(columnIndex(table, "#2")).toBe(2);
    expect(columnIndex(table, "#1")).toBe(3);
  });

  it("names file and nearest column for an unknown one", () => {
    expectError("COLUMN_UNKNOWN", "people.csv has no column 'incom'; did you mean 'income'?", () =>
      columnIndex(table, "incom"),
    );
    expectError("COLUMN_UNKNOWN", "people.csv has no column #4: its columns are #0 to #3", () =>
      columnIndex(table, "#4"),
    );
    expectError("COLUMN_UNKNOWN", "people.csv has no column ''", () => columnIndex(table, ""));
    expectError("COLUMN_UNKNOWN", "people.csv has no column 'visits'; there are: 'age', 'income', '#1'", () =>
      columnIndex(table, "visits"),
    );
    expectError("COLUMN_UNKNOWN", "give its position, such as '#0'", () => columnIndex(tableOf({ "": ["1"] }), "age"));
  });

  it("does not print names that may be the first row of a file without a header", () => {
    const headless = tableOf({ alice: ["bob"], "52.5": ["17"] });
    expectError("COLUMN_UNKNOWN", "people.csv has no column 'alic'; give its position, such as '#0'", () =>
      columnIndex(headless, "alic"),
    );
  });
});

describe("numericColumn", () => {
  it("takes decimal and exponent syntax with surrounding spaces, as float32", () => {
    const cells = ["1", "-2.5", "+3.", ".5", " 1e3 ", "1.5E-2", "0.1", "-0", "3.4028234e38", "1e-60"];
    const values = numericColumn(tableOf({ x: cells }), 0, none);
    expect(values).toBeInstanceOf(Float32Array);
    expect([...values]).toEqual([
      1,
      -2.5,
      3,
      0.5,
      1000,
      Math.fround(0.015),
      Math.fround(0.1),
      -0,
      Math.fround(3.4028234e38),
      0,
    ]);
  });

  it("reads empty, NA, NaN and the user's tokens as missing", () => {
    const cells = ["", "  ", "NA", "na", "NaN", "nan", "NAN", "?", " -999 ", "7"];
    const values = numericColumn(tableOf({ x: cells }), 0, new Set(["?", "-999"]));
    expect([...values].map((value) => Number.isNaN(value))).toEqual([...Array.from({ length: 9 }, () => true), false]);
  });

  it.each(["secret", "0x10", "1 000", "1e", ".", "+", "null", "?", "1_000", "0b1", "N/A"])(
    "refuses %j with file, line and column but not the value",
    (cell) => {
      const table = tableOf({ id: ["a", "b", "c"], income: ["1", "", cell] });
      const message = "people.csv, line 7, column 'income': the cell is text. A number must stand there";
      expectError("CELL_UNPARSABLE", message, () => numericColumn(table, 1, none));
      if (cell.length > 4) expect(() => numericColumn(table, 1, none)).not.toThrow(cell);
    },
  );

  it.each(["1e39", "-3.5e38", "1e999"])("refuses %j, which float32 does not have", (cell) => {
    const message = "people.csv, line 3, column 'x': the cell is a number beyond 3.4e38";
    expectError("CELL_UNPARSABLE", message, () => numericColumn(tableOf({ x: [cell] }), 0, none));
  });

  it("calls an unnamed column by its position", () => {
    expectError("CELL_UNPARSABLE", "line 3, column #0:", () => numericColumn(tableOf({ "": ["x"] }), 0, none));
  });
});

describe("labelColumn", () => {
  it("uses numbers as they are", () => {
    expect([...labelColumn(tableOf({ y: ["0", " 1", "2.5", "1e2"] }), 0)]).toEqual([0, 1, 2.5, 100]);
  });

  it("marks the positive value", () => {
    expect([...labelColumn(tableOf({ y: ["yes", "no ", " yes", "maybe"] }), 0, "yes")]).toEqual([1, 0, 1, 0]);
  });

  it("rejects a missing label, by line", () => {
    const message = "people.csv, line 5, column 'y': the label is missing";
    for (const missing of ["", " ", "NA", "nan"]) {
      expectError("LABEL_INVALID", message, () => labelColumn(tableOf({ y: ["1", missing] }), 0));
      expectError("LABEL_INVALID", message, () => labelColumn(tableOf({ y: ["1", missing] }), 0, "1"));
    }
  });

  it("rejects text without a positive value", () => {
    expectError("CELL_UNPARSABLE", "line 3, column 'y': the cell is not a number; a label must be one", () =>
      labelColumn(tableOf({ y: ["yes", "no"] }), 0),
    );
  });

  it("rejects a positive value that no cell or every cell has", () => {
    expectError("LABEL_INVALID", "people.csv, column 'y': no label is 'Yes' (upper and lower case count)", () =>
      labelColumn(tableOf({ y: ["yes", "no"] }), 0, "Yes"),
    );
    expectError("LABEL_INVALID", "people.csv, column 'y': every label is 'yes'", () =>
      labelColumn(tableOf({ y: ["yes", "yes"] }), 0, "yes"),
    );
  });
});

describe("requireBinaryLabels", () => {
  const check = (y: string[]) => {
    const table = tableOf({ y });
    requireBinaryLabels(table, 0, labelColumn(table, 0));
  };

  it("accepts 0 and 1, both present", () => {
    expect(() => check(["0", "1", "1.0"])).not.toThrow();
  });

  it("rejects other values, by line, and one class only", () => {
    expectError("LABEL_INVALID", "people.csv, line 7, column 'y': the label is neither 0 nor 1", () =>
      check(["0", "1", "2"]),
    );
    expectError("LABEL_INVALID", "people.csv, column 'y': no label is 1", () => check(["0", "0"]));
    expectError("LABEL_INVALID", "people.csv, column 'y': every label is 1", () => check(["1", "1"]));
  });
});

describe("idColumn", () => {
  const table = tableOf({ "": ["A", " B ", "C"], again: ["x17", "y", " x17"], gap: ["1", " ", "3"] });

  it("trims ids, and numbers rows from 1 without a column", () => {
    expect(idColumn(table, "#0")).toEqual(["A", "B", "C"]);
    expect(idColumn(table, undefined)).toEqual(["1", "2", "3"]);
  });

  it("names both lines of a duplicate, not the id", () => {
    expectError("ID_DUPLICATE", "people.csv: lines 3 and 7 have the same id in column 'again'", () =>
      idColumn(table, "again"),
    );
    expect(() => idColumn(table, "again")).not.toThrow("x17");
  });

  it("rejects an empty id and an unknown column", () => {
    expectError("FILE_FORMAT", "people.csv, line 5, column 'gap': the id is empty", () => idColumn(table, "gap"));
    expectError("COLUMN_UNKNOWN", "did you mean 'again'?", () => idColumn(table, "agian"));
  });
});
