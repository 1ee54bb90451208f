import { describe, expect, test } from "vitest";
import { expectError } from "../../test/support/expect-error.ts";
import { CategoryBook } from "./category-book.ts";
import type { CsvTable } from "./csv-table.ts";
import { categoryNamesPerFeature } from "./dataset.ts";
import { featureColumns, type FeatureReading } from "./feature-columns.ts";

const cells = {
  age: ["31", "", "45"],
  job: [" baker", "smith", "baker "],
  zip: ["01", "1", "NA"],
  mixed: ["3", "4", "x"],
  none: ["", "NA", "?"],
};
const table: CsvTable = {
  path: "people.csv",
  names: Object.keys(cells),
  columns: Object.values(cells),
  rowCount: 3,
  lineOf: (row) => row + 2,
};

function read(names: (keyof typeof cells)[], more: Partial<FeatureReading> = {}) {
  return featureColumns(table, {
    columns: names.map((name) => table.names.indexOf(name)),
    names,
    missing: ["?"],
    categorical: [],
    text: "categories",
    book: new CategoryBook(),
    ...more,
  });
}

describe("notices about categories", () => {
  const column = (texts: readonly string[], more: Partial<FeatureReading> = {}) => {
    const notices: string[] = [];
    const given = { ...table, names: ["day"], columns: [[...texts]], rowCount: texts.length };
    featureColumns(given, {
      columns: [0],
      names: ["day"],
      missing: [],
      categorical: [],
      text: "categories",
      book: new CategoryBook(),
      notice: (words) => notices.push(words),
      ...more,
    });
    return notices;
  };
  const days = (count: number) => Array.from({ length: count }, (_, i) => `day ${i}`);

  test("text of more than 100 kinds is probably a date or a measurement, unless it is named", () => {
    expect(column(days(100))).toEqual([]);
    expect(column(days(101))).toEqual([expect.stringMatching(/^people\.csv, line 2, column 'day': .* 101 categories/)]);
    expect(column(days(101), { categorical: ["day"] })).toEqual([]);
  });

  test("categories of a later file that the training file has not are counted", () => {
    const book = new CategoryBook();
    const later = { book, text: "as trained", categorical: ["day"] } as const;
    expect(column(days(3), { book })).toEqual([]);
    expect(column(days(3), later)).toEqual([]);
    expect(column(days(5), later)).toEqual([expect.stringMatching(/of the column's categories 2 did not occur/)]);
  });
});

describe("which columns have categories", () => {
  test("those of text alone, with trimmed cells; numbers and columns without a value have none", () => {
    const { features, categories, featureNames } = read(["age", "job", "none"]);
    expect(featureNames).toEqual(["age", "job", "none"]);
    expect(Object.keys(categories)).toEqual(["job"]);
    expect(categories["job"]).toEqual({ names: ["baker", "smith"], where: "people.csv, line 2, column 'job'" });
    expect(features.map((column) => [...column])).toEqual([
      [31, NaN, 45],
      [0, 1, 0],
      [NaN, NaN, NaN],
    ]);
  });

  test("those that are named, by their text: 01 is not 1", () => {
    const { features, categories } = read(["zip"], { categorical: ["zip"] });
    expect([...features[0]]).toEqual([0, 1, NaN]);
    expect(categories["zip"].names).toEqual(["01", "1"]);
  });

  test("those of numbers and text: every cell is a category by its text, and the owner is notified", () => {
    const notices: string[] = [];
    const { features, categories } = read(["mixed", "job"], { notice: (words) => notices.push(words) });
    expect([...features[0]]).toEqual([0, 1, 2]);
    expect(categories["mixed"]).toEqual({ names: ["3", "4", "x"], where: "people.csv, line 4, column 'mixed'" });
    expect(notices).toEqual([
      expect.stringMatching(/^people\.csv, line 4, column 'mixed': the column has numbers and text.*\(--missing\)$/),
    ]);
    expect(read(["mixed"], { missing: ["x"] }).categories).toEqual({});
  });

  test("a code that looks like a number too large for float32 is text where there is text", async () => {
    const code: CsvTable = { ...table, names: ["code"], columns: [["4E50", "A10", "7"]] };
    const reading = { columns: [0], names: ["code"], missing: [], categorical: [], book: new CategoryBook() };
    expect(featureColumns(code, { ...reading, text: "categories" }).categories["code"].names).toEqual([
      "4E50",
      "A10",
      "7",
    ]);
    const numbers = { ...code, columns: [["4E50", "1", "7"]] };
    await expectError(
      () => featureColumns(numbers, { ...reading, text: "categories" }),
      "CELL_UNPARSABLE",
      /line 2, column 'code'.*3\.4e38/,
    );
  });

  test("in a later file they are what they were: the advice does not name what was given", async () => {
    const later = { text: "as trained", missing: [] } as const;
    await expectError(
      () => read(["mixed"], later),
      "CELL_UNPARSABLE",
      /line 4, column 'mixed': the cell is text\..*trained on.*\(--missing\).*\(--categorical mixed\)$/,
    );
    await expectError(
      () => read(["mixed"], { ...later, saidIn: "config" }),
      "CELL_UNPARSABLE",
      /\(data\.categorical: mixed\)$/,
    );
    expect(read(["zip"], { ...later, categorical: ["zip"] }).categories["zip"].names).toEqual(["01", "1"]);
  });

  test("none where text is refused; what is named must be a feature", async () => {
    await expectError(
      () => read(["job"], { text: "refuse" }),
      "CELL_UNPARSABLE",
      /line 2, column 'job'.*\(--enable-categorical\).*\(--missing\)$/,
    );
    await expectError(
      () => read(["job"], { text: "refuse", saidIn: "config" }),
      "CELL_UNPARSABLE",
      /line 2, column 'job'.*\(training\.enable_categorical\).*\(data\.missing\)$/,
    );
    await expectError(
      () => read(["age", "job"], { categorical: ["jop"] }),
      "COLUMN_UNKNOWN",
      /'jop'.*did you mean 'job'/,
    );
  });
});

test("tables that are read with one book have the same codes; new categories get new ones", () => {
  const book = new CategoryBook();
  read(["job"], { book });
  const later: CsvTable = {
    ...table,
    columns: table.columns.map((column, i) => (i === 1 ? ["weaver", "smith", ""] : column)),
  };
  const { features, categories } = featureColumns(later, {
    columns: [1],
    names: ["job"],
    missing: [],
    categorical: [],
    text: "categories",
    book,
  });
  expect([...features[0]]).toEqual([2, 1, NaN]);
  expect(categoryNamesPerFeature({ featureNames: ["job", "age"], categories })).toEqual([
    ["baker", "smith", "weaver"],
    null,
  ]);
});
