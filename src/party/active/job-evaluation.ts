/**
 * The evaluation of a finished job, and the model of the active party's own columns that it is compared with. All of it
 * is computed here, from what the active party has: nothing is sent.
 */
import { selectMargins } from "../../gbdt/boost/boosting-monitor.ts";
import type { ModelEvaluation } from "../../record/evaluation/evaluation.ts";
import { type EvaluatedRows, evaluateModel, labelNames } from "../model-evaluation.ts";
import { rowsOfTable } from "../tables/table-rows.ts";
import type { ActiveConfig } from "../config/config.ts";
import type { PreparedJob } from "./attempts.ts";
import type { JobTables } from "./tables.ts";
import type { PlainMargins } from "./plain-training.ts";

/** Values of the own columns, of all rows, up to which a comparison takes seconds. */
const comparedCellsMax = 20_000_000;

/** Whether to train the own columns alone: as configured, and otherwise where that takes little time and memory. */
export function comparesAlone(
  { compare_alone: wanted }: Pick<ActiveConfig, "compare_alone">,
  { train, rows }: Pick<JobTables, "train" | "rows">,
): boolean {
  if (wanted !== undefined) return wanted;
  // A custom objective may know its instances by more than their labels.
  return rows.custom === null && train.features.length * rows.count <= comparedCellsMax;
}

interface FinishedJob {
  readonly prepared: Pick<PreparedJob, "config" | "rows" | "test">;
  /** Of the training and validation rows, by the model that was kept; null: not known, after a restart. */
  readonly margins: Float64Array | null;
  readonly testMargins: Float64Array | null;
  readonly alone: PlainMargins | null;
}

/** @returns null where there are no rows to evaluate */
export async function evaluateJob({
  prepared,
  margins,
  testMargins,
  alone,
}: FinishedJob): Promise<ModelEvaluation | null> {
  const { rows, test, config } = prepared;
  const { training } = config.job;
  const parts: EvaluatedRows[] = [];
  let comparable = alone?.train ?? null;
  const add = (part: "training" | "validation", which: Uint32Array | null): void => {
    if (margins === null || which?.length === 0) return;
    const of = (all: Float64Array): Float64Array =>
      which === null ? all : selectMargins(all, which, all.length / rows.count);
    parts.push({ part, margins: of(margins), rows: rows.select(which) });
    comparable = alone && of(alone.train);
  };
  add("training", rows.training);
  if (rows.validation !== null) add("validation", rows.validation);
  if (test !== null && testMargins !== null && test.ids.length > 0) {
    parts.push({ part: "test", margins: testMargins, rows: rowsOfTable(test) });
    comparable = alone?.test ?? null;
  }
  return parts.length === 0 ? null : evaluateModel(training, parts, comparable, { label: labelNames(config.data) });
}
