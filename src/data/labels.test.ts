import { describe, expect, test } from "vitest";
import { expectError } from "../../test/support/expect-error.ts";
import type { CsvTable } from "./csv-table.ts";
import { type LabelReading, type LabelUse, readLabels, sortedClasses } from "./labels.ts";

const table = (cells: string[]): CsvTable => ({
  path: "people.csv",
  names: ["y"],
  columns: [cells],
  rowCount: cells.length,
  lineOf: (row) => row + 2,
});
const multi: LabelUse = { objective: "multi:softprob", learns: "several classes" };
const binary: LabelUse = { objective: "binary:logistic", learns: "two classes" };
const read = (cells: string[], reading: LabelReading & LabelUse) => readLabels(table(cells), 0, reading, reading);

describe("labels that are text", () => {
  test("are numbered in the order of code points, as scikit-learn's LabelEncoder does it", () => {
    const { values, classes } = read(["b", " a", "É", "Z", "b", "\u{1F600}", "\uFF01"], multi);
    expect(classes).toEqual(["Z", "a", "b", "É", "\uFF01", "\u{1F600}"]);
    expect([...values]).toEqual([2, 1, 3, 0, 2, 5, 4]);
  });

  test("or in the order that is given, numbers too", () => {
    expect(read(["bad", "good"], { ...binary, classes: ["good", "bad"] })).toEqual({
      values: Float64Array.of(1, 0),
      classes: ["good", "bad"],
    });
    expect([...read(["7", "3", "9"], { ...multi, classes: ["3", "7", "9"] }).values]).toEqual([1, 0, 2]);
  });

  test("of two classes: the second counts as 1; a number beside a word is a class", () => {
    expect(read(["yes", "no"], binary)).toEqual({ values: Float64Array.of(1, 0), classes: ["no", "yes"] });
    expect(read(["1", "none"], binary).classes).toEqual(["1", "none"]);
  });

  test("numbers stay numbers, and --positive needs no names", () => {
    expect(read(["0", "1"], binary)).toEqual({ values: Float64Array.of(0, 1), classes: null });
    expect(read(["2", "0"], multi)).toEqual({ values: Float64Array.of(2, 0), classes: null });
    expect(read(["a", "b"], { ...binary, positive: "a" })).toMatchObject({
      values: Float64Array.of(1, 0),
      classes: null,
    });
    expect(read(["1.5", "2"], { objective: "reg:squarederror", learns: "numbers" }).classes).toBeNull();
  });

  test.each([
    [["a", "b", "c"], binary, "LABEL_INVALID", /people\.csv, column 'y': .*3 classes.*multi:softprob.*--positive/],
    [["a", "a"], binary, "LABEL_INVALID", /every label is the same/],
    [["a", "a"], multi, "LABEL_INVALID", /every label is the same/],
    [["a", "", "b"], multi, "LABEL_INVALID", /line 3, column 'y': the label is missing/],
    [
      ["a", "b"],
      { objective: "count:poisson", learns: "numbers" },
      "CELL_UNPARSABLE",
      /line 2, .*not a number, as count:poisson needs/,
    ],
    [["a", "b"], { ...multi, positive: "a" }, "USAGE", /positive \(--positive\) is for two classes/],
    [
      ["a", "x"],
      { ...multi, classes: ["a", "b"] },
      "LABEL_INVALID",
      /^(?!.*'x').*line 3.*none of the classes that were/,
    ],
    [["a", "b"], { ...binary, classes: ["a", "b", "c"] }, "USAGE", /takes two of them/],
    [["a", "b"], { ...multi, classes: ["a", "a"] }, "USAGE", /names one of them twice/],
    [["a", "b"], { objective: "reg:squarederror", learns: "numbers", classes: ["a", "b"] }, "USAGE", /has no classes/],
    [["a", "b"], { ...binary, classes: ["a", "b"], positive: "a" }, "USAGE", /exclude each other/],
    [["0", "2"], binary, "LABEL_INVALID", /line 3.*neither 0 nor 1\. For two classes, name .*--positive/],
    [
      ["0", "1", "2"],
      binary,
      "LABEL_INVALID",
      /line 4.*For several classes, train with .*multi:softprob; .*--positive/,
    ],
    [["0", "9.25", "7"], binary, "LABEL_INVALID", /^(?!.*9\.25).*line 3.*look continuous: .*reg:squarederror/],
    [
      Array.from({ length: 30 }, (_, i) => String(100 + i)),
      binary,
      "LABEL_INVALID",
      /^(?!.*1[0-2]\d).*line 2.*look continuous/,
    ],
    [["1", "1"], binary, "LABEL_INVALID", /every label is 1/],
  ] as const)("%j for %o: %s", async (cells, reading, code, message) => {
    await expectError(() => read([...cells], reading), code, message);
  });

  test("too many of them are rejected", async () => {
    const many = Array.from({ length: 1001 }, (_, i) => `p${i}`);
    await expectError(() => read(many, multi), "LABEL_INVALID", /1001 different labels\. Is it the right column/);
  });
});

describe("a later file", () => {
  const trained = { classes: ["a", "b", "c"] };

  test("has the training file's classes, and need not have all of them", () => {
    expect([...read(["c", "c"], { ...multi, trained }).values]).toEqual([2, 2]);
    expect([...read(["1", "1"], { ...binary, trained: { classes: null } }).values]).toEqual([1, 1]);
    expect([...read(["no", "no"], { ...binary, positive: "yes", trained: { classes: null } }).values]).toEqual([0, 0]);
  });

  test("without the positive value has no labels that are new: they may be another spelling", async () => {
    const { negatives, values } = read(["yes", "no", " perhaps"], { ...binary, positive: "yes" });
    expect([...values]).toEqual([1, 0, 0]);
    expect(negatives).toEqual(["no", "perhaps"]);
    const later = { ...binary, positive: "yes", trained: { classes: null, ...(negatives && { negatives }) } };
    expect([...read(["perhaps", "no"], later).values]).toEqual([0, 0]);
    expect([...read(["never", "yes"], later).values]).toEqual([0, 1]);
    await expectError(() => read(["no", "Yes"], later), "LABEL_INVALID", /line 3.*no training row.*--positive/);
  });

  test("has no other classes", async () => {
    await expectError(
      () => read(["a", "d"], { ...multi, trained }),
      "LABEL_INVALID",
      /line 3.*none of the classes of the training rows/,
    );
    await expectError(
      () => read(["0", "d"], { ...multi, trained: { classes: null } }),
      "CELL_UNPARSABLE",
      /line 3.*not a number, as all labels of the training rows are/,
    );
  });
});

test("the notice has the number of classes, but no label", () => {
  const words = sortedClasses(["no", "yes"]);
  expect(words).toMatch(/^labels are text: 2 classes, numbered from 0 on in sorted order\. --classes/);
  expect(words).not.toMatch(/yes/);
});
