/**
 * The label column: numbers, or class names. Names are numbered in sorted order, as by scikit-learn's LabelEncoder,
 * unless an order is given. Messages name file, line and column, never a label.
 */
import { byCodePoints } from "../base/text/code-points.ts";
import { TandemError } from "../base/error.ts";
import { columnTitle, isMissingCell, labelColumn, numberIn, cellPlace, requireBinaryLabels } from "./columns.ts";
import type { CsvTable } from "./csv-table.ts";

/** How labels are used. */
export interface LabelUse {
  /** Its name in messages. */
  readonly objective: string;
  readonly learns: "two classes" | "several classes" | "numbers";
}

export interface LabelReading {
  /** The value that counts as 1; everything else is 0. */
  readonly positive?: string | undefined;
  /** All classes in their order. Left out: those of the column, if it is text. */
  readonly classes?: readonly string[] | undefined;
  /** A later file has the training file's classes, and need not have all of them. Null: numbers, as there. */
  readonly trained?: { readonly classes: readonly string[] | null; readonly negatives?: readonly string[] };
}

export interface Labels {
  readonly values: Float64Array;
  /** The class of each value; null: values are numbers. */
  readonly classes: readonly string[] | null;
  /** With `positive`: the other labels, unless there are too many to compare a later file with. */
  readonly negatives?: readonly string[];
}

const classesMax = 1000;

/** @throws TandemError LABEL_INVALID, CELL_UNPARSABLE or USAGE naming file, column and, where there is one, line */
export function readLabels(table: CsvTable, index: number, reading: LabelReading, use: LabelUse): Labels {
  checkReading(reading, use);
  const { positive, trained } = reading;
  if (positive !== undefined) return positiveLabels(table, index, positive, trained);
  const known = trained === undefined ? reading.classes : (trained.classes ?? undefined);
  const classes = known ?? (trained === undefined && use.learns !== "numbers" ? namesIn(table, index) : null);
  if (classes === null) return numbers(table, index, reading, use);
  if (known === undefined) checkCount(table, index, classes, use);
  const values = classValues(table, index, classes, trained !== undefined);
  return { values, classes };
}

/** @throws TandemError LABEL_INVALID for a later file without the positive value and with labels that are new */
function positiveLabels(table: CsvTable, index: number, positive: string, trained: LabelReading["trained"]): Labels {
  const values = labelColumn(table, index, positive, trained !== undefined);
  const cells = table.columns[index];
  if (trained === undefined) {
    const negatives = [...new Set(cells.filter((_, row) => values[row] === 0).map((cell) => cell.trim()))];
    return { values, classes: null, ...(negatives.length <= classesMax ? { negatives } : {}) };
  }
  const known = trained.negatives && new Set(trained.negatives);
  const unknown = known === undefined || values.includes(1) ? -1 : cells.findIndex((cell) => !known.has(cell.trim()));
  if (unknown === -1) return { values, classes: null };
  throw new TandemError(
    "LABEL_INVALID",
    `${cellPlace(table, unknown, index)}: no training row has this label, and no row of the file has the one that ` +
      "counts as 1 (--positive, in a config: data.positive). Spell labels as in the training file",
  );
}

const classesOption = "--classes (in a config: data.classes)";

/** @throws TandemError USAGE */
function checkReading({ positive, classes }: LabelReading, { objective, learns }: LabelUse): void {
  if (positive !== undefined && learns === "several classes")
    throw new TandemError(
      "USAGE",
      `positive (--positive) is for two classes, and ${objective} takes several: leave it out`,
    );
  if (classes === undefined) return;
  if (positive !== undefined) throw new TandemError("USAGE", "--positive and --classes exclude each other");
  if (learns === "numbers")
    throw new TandemError("USAGE", `${classesOption}: ${objective} learns numbers, and has no classes`);
  if (new Set(classes).size < classes.length)
    throw new TandemError("USAGE", `${classesOption} names one of them twice`);
  const isTwo = learns === "two classes";
  if (isTwo ? classes.length !== 2 : classes.length < 2)
    throw new TandemError("USAGE", `${classesOption}: ${objective} takes ${isTwo ? "two" : "two or more"} of them`);
}

function numbers(table: CsvTable, index: number, { trained }: LabelReading, { objective, learns }: LabelUse): Labels {
  const text = table.columns[index].findIndex((cell) => !isMissingCell(cell) && numberIn(cell) === undefined);
  if (text !== -1) {
    const why = learns === "numbers" ? `as ${objective} needs` : "as all labels of the training rows are";
    throw new TandemError("CELL_UNPARSABLE", `${cellPlace(table, text, index)}: the label is not a number, ${why}`);
  }
  const values = labelColumn(table, index);
  if (learns === "two classes") requireBinaryLabels(table, index, values, trained !== undefined);
  return { values, classes: null };
}

/** Sorted; null if all of them are numbers. */
function namesIn(table: CsvTable, index: number): readonly string[] | null {
  const names = new Set<string>();
  for (const cell of table.columns[index]) if (!isMissingCell(cell)) names.add(cell.trim());
  if ([...names].every((name) => numberIn(name) !== undefined)) return null;
  return [...names].sort(byCodePoints);
}

function checkCount(
  table: CsvTable,
  index: number,
  { length }: readonly string[],
  { objective, learns }: LabelUse,
): void {
  const where = `${table.path}, column ${columnTitle(table, index)}`;
  if (length < 2) throw new TandemError("LABEL_INVALID", `${where}: every label is the same; two classes are needed`);
  if (length > classesMax)
    throw new TandemError("LABEL_INVALID", `${where}: there are ${length} different labels. Is it the right column?`);
  if (learns === "two classes" && length > 2)
    throw new TandemError(
      "LABEL_INVALID",
      `${where}: the label has ${length} classes, and ${objective} takes two. Train with the objective ` +
        "multi:softprob, or say with --positive (in a config: data.positive) which class counts as 1",
    );
}

function classValues(table: CsvTable, index: number, classes: readonly string[], isLater: boolean): Float64Array {
  const numberOf = new Map(classes.map((name, i) => [name.trim(), i]));
  return Float64Array.from(table.columns[index], (cell, row) => {
    const value = numberOf.get(cell.trim());
    if (value !== undefined) return value;
    const what = isMissingCell(cell)
      ? "the label is missing"
      : `the label is none of the classes ${isLater ? "of the training rows" : "that were named"}`;
    throw new TandemError("LABEL_INVALID", `${cellPlace(table, row, index)}: ${what}`);
  });
}

/**
 * A notice with the number of classes, without names, since it may be logged. Predictions, report and `tandem model
 * show` have the names.
 */
export function sortedClasses({ length }: readonly string[]): string {
  return (
    `labels are text: ${length} classes, numbered from 0 on in sorted order. ` +
    "--classes (in a config: data.classes) gives another order"
  );
}
