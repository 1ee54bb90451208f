/** Outputs of a model for people, row by row. */
import { readTable } from "../data/table-source.ts";

/** Outputs of a model: row `i` belongs to `ids[i]`. */
export interface Scores {
  readonly ids: readonly string[];
  /** What a row's values are: `prediction`, or one name per class, tree or feature. */
  readonly names: readonly string[];
  /** Row by row, `names.length` values each. */
  readonly values: Float64Array;
}

/** Predictions of people whose labels are known. */
export interface Predictions extends Scores {
  /** As in the label column: numbers, or names of classes. */
  readonly labels: readonly (number | string)[];
}

const prefix = "prediction";

/** Reads what a job has written (party/active/results.ts). @internal */
export async function readPredictions(path: string): Promise<Predictions> {
  const { names: titles, columns, rowCount } = await readTable({ path }, { header: true });
  const outputs = titles.flatMap((title, i) => (title.startsWith(prefix) ? [i] : []));
  const values = new Float64Array(rowCount * outputs.length);
  for (const [k, column] of outputs.entries())
    columns[column].forEach((cell, row) => (values[row * outputs.length + k] = Number(cell)));
  const labels = columns[titles.indexOf("label")];
  const areNumbers = labels.every((label) => label.trim() !== "" && Number.isFinite(Number(label)));
  return {
    ids: columns[titles.indexOf("id")],
    labels: areNumbers ? labels.map(Number) : labels,
    names: outputs.map((i) => titles[i]),
    values,
  };
}
