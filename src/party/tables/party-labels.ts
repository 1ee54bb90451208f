/** The active party's labels: read, numbered, and looked at by the objective, which speaks of lines then. */
import { TandemError } from "../../base/error.ts";
import type { TrainingParameters } from "../../gbdt/parameters/training-parameters.ts";
import { columnTitle, cellPlace } from "../../data/columns.ts";
import type { CsvTable } from "../../data/csv-table.ts";
import type { PartyTable } from "../../data/dataset.ts";
import type { Notice } from "../../data/feature-columns.ts";
import { type LabelReading, readLabels, sortedClasses } from "../../data/labels.ts";
import { withClassCount } from "../../gbdt/objective/outputs.ts";
import type { RowColumnChoice } from "../../data/row-column.ts";
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
): Pick<PartyTable, "labels" | "classes"> {
  const { name: objective, kind } = objectiveFor(label.training.objective);
  const learns = kind === "binary" ? "two classes" : kind === "classes" ? "several classes" : "numbers";
  const { values, classes } = readLabels(csv, index, label, { objective, learns });
  if (classes !== null && label.classes === undefined && label.trained === undefined)
    notice(`${csv.path}, column ${columnTitle(csv, index)}: ${sortedClasses(classes)}`);
  checkFileLabels(csv, index, values, withClassCount(label.training, classes));
  return { labels: values, ...(classes === null ? {} : { classes }) };
}

/**
 * What an objective says of an instance, it says of a line here. That there must be several classes is asked of the
 * training rows, which are not known yet.
 */
function checkFileLabels(csv: CsvTable, index: number, labels: Float64Array, training: TrainingParameters): void {
  const objective = objectiveFor(training.objective);
  objective.checkParameters?.(training); // refuses a number of classes that is missing
  try {
    objective.checkLabels(labels, training);
  } catch (error) {
    const [, instance, what] =
      (error instanceof TandemError && /^the label of instance (\d+) (.*)$/.exec(error.message)) || [];
    if (instance === undefined) return;
    throw new TandemError("LABEL_INVALID", `${cellPlace(csv, Number(instance), index)}: the label ${what}`);
  }
}
