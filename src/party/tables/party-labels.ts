/** The active party's labels: read, numbered, and looked at by the objective, which speaks of lines then. */
import { TandemError } from "../../base/error.ts";
import type { TrainingParameters } from "../../gbdt/parameters/training-parameters.ts";
import { cellPlace, columnIndex, columnTitle } from "../../data/columns.ts";
import type { CsvTable, TableRows } from "../../data/table-sink.ts";
import type { PartyTable } from "../../data/dataset.ts";
import type { Notice } from "../../data/feature-columns.ts";
import { type LabelReading, readLabels, sortedClasses } from "../../data/labels.ts";
import { withClassCount } from "../../gbdt/objective/outputs.ts";
import { namedColumns, type RowColumnChoice } from "../../data/row-column.ts";
import { objectiveFor } from "../../gbdt/objective/objectives.ts";

export interface LabelSpec extends LabelReading {
  readonly label: string;
  /** What the objective needs to know of its labels. */
  readonly training: TrainingParameters;
  readonly columns?: RowColumnChoice;
}

/** Labels that the objective can learn from. @throws TandemError naming file, line and column */
export function checkedLabels(
  csv: CsvTable,
  index: number,
  label: LabelReading & Pick<LabelSpec, "training">,
  notice: Notice = () => {},
): Pick<PartyTable, "labels" | "classes" | "negatives"> {
  const { name: objective, kind } = objectiveFor(label.training.objective);
  const learns = kind === "binary" ? "two classes" : kind === "classes" ? "several classes" : "numbers";
  const { values, classes, negatives } = readLabels(csv, index, label, { objective, learns });
  if (classes !== null && label.classes === undefined && label.trained === undefined)
    notice(`${csv.path}, column ${columnTitle(csv, index)}: ${sortedClasses(classes)}`);
  checkFileLabels(csv, index, values, withClassCount(label.training, classes));
  return { labels: values, ...(classes === null ? {} : { classes }), ...(negatives && { negatives }) };
}

/** How labels of later files are read, given the training file's. */
export function laterLabels({ classes = null, negatives }: PartyTable): NonNullable<LabelReading["trained"]> {
  return { classes, ...(negatives && { negatives }) };
}

/**
 * What an objective says of an instance, it says of a line here. That there must be several classes is asked of the
 * training rows, which are not known yet.
 */
function checkFileLabels(csv: CsvTable, index: number, labels: Float64Array, training: TrainingParameters): void {
  const objective = objectiveFor(training.objective);
  objective.checkParameters?.(training); // refuses a number of classes that is missing
  inFile(csv, "label", index, () => objective.checkLabels(labels, training));
}

/** The same of per-row columns. @throws TandemError LABEL_INVALID naming file, line and column */
export function checkFileColumns(
  rows: TableRows,
  { columns: choice = {}, training }: Pick<LabelSpec, "columns" | "training">,
  { labels, rowColumns = {} }: Pick<PartyTable, "labels" | "rowColumns">,
): void {
  const objective = objectiveFor(training.objective);
  for (const [name, column] of namedColumns(choice))
    inFile(rows, name, columnIndex(rows, column), () => objective.checkColumns?.(rowColumns, labels ?? noLabels));
}

const noLabels = new Float64Array(0);

/** Names the line of an instance in what an objective says of one of its columns; other errors come later. */
function inFile(rows: TableRows, name: string, index: number, check: () => void): void {
  try {
    check();
  } catch (error) {
    const [, of, instance, what] =
      (error instanceof TandemError && /^the (\w+) of instance (\d+) (.*)$/.exec(error.message)) || [];
    if (of !== name) return;
    throw new TandemError("LABEL_INVALID", `${cellPlace(rows, Number(instance), index)}: the ${name} ${what}`);
  }
}
