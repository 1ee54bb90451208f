/**
 * `tandem evaluate`: a trained model on rows whose labels came later. Passive parties answer as in scoring, and reveal
 * the same.
 */
import { join } from "node:path";
import { TandemError } from "../base/error.ts";
import { allIterations } from "../gbdt/tree/iterations.ts";
import { selectMargins } from "../gbdt/boost/boosting-monitor.ts";
import type { ActiveConfig } from "../party/config/config.ts";
import { findActiveShare } from "../party/model/find-share.ts";
import { evaluateModel, labelNames } from "../party/model-evaluation.ts";
import { rowsOfTable } from "../party/tables/table-rows.ts";
import type { ModelEvaluation } from "../record/evaluation/evaluation.ts";
import { readRecord } from "../record/stored-record.ts";
import { askedRows, countByParty, scoreAll, type UnknownRule, unknownRefusal } from "./run-predict.ts";
import { labelledRows, refreshParameters } from "./run-refresh.ts";
import { Scorer } from "./scorer.ts";
import type { Wanted } from "./wanted.ts";

export interface EvaluateOptions {
  /** A job's name, or the folder of one. */
  readonly model: string;
  readonly input: string;
  readonly unknown: UnknownRule;
  readonly onProgress: (done: number, total: number) => void;
}

export interface EvaluateResult {
  readonly job: string;
  readonly model: string;
  readonly others: readonly string[];
  readonly rows: number;
  readonly evaluated: number;
  readonly unknown: Readonly<Record<string, number>>;
  readonly evaluation: ModelEvaluation;
}

const firstTimeoutMs = 10_000;
const marginsWanted: Wanted = { kind: "margin", iterations: allIterations };

/** @throws TandemError */
export async function runEvaluate(config: ActiveConfig, options: EvaluateOptions): Promise<EvaluateResult> {
  const share = await findActiveShare(options.model, config);
  const training = refreshParameters(config.job.training, share);
  const scorer = await Scorer.connect(config, share);
  try {
    const rows = await labelledRows(config.data, options.input, scorer, training, "features");
    for (const { trouble } of await scorer.ready(firstTimeoutMs)) if (trouble !== null) throw trouble;
    const wanted = { ...options, wanted: marginsWanted };
    const { predictions, unknown } = await scoreAll(scorer, askedRows(scorer, rows), wanted, false);
    if (options.unknown === "refuse" && unknown.size > 0) throw unknownRefusal(options.input, rows, unknown);
    const all = Uint32Array.from({ length: rows.table.ids.length }, (_, row) => row);
    const used = all.filter((row) => options.unknown === "missing" || !unknown.has(row));
    if (used.length === 0)
      throw new TandemError("ID_UNKNOWN", `${options.input}: none of its ids is known to all passive parties`);
    const margins = selectMargins(predictions, used, share.outputCount ?? 1);
    const part = { part: "new" as const, margins, rows: rowsOfTable(rows.table).select(used) };
    const reference = await trainingScores(join(config.output.directory, share.job));
    return {
      job: share.job,
      model: share.model,
      others: share.passiveNames,
      rows: all.length,
      evaluated: used.length,
      unknown: countByParty(unknown),
      evaluation: await evaluateModel(training, [part], null, { reference, label: labelNames(config.data) }),
    };
  } finally {
    scorer.close();
  }
}

/** The distribution of the training rows' scores, from the job's record; null: it has none. */
async function trainingScores(folder: string): Promise<ModelEvaluation["stability"]> {
  const views = await readRecord(folder).catch(() => null);
  return views?.own.evaluation?.stability ?? null;
}
