/** What Tandem makes of one table besides a plain training: refreshed leaves, and a search over parameters. */
import type { TrainingParameters } from "../../src/gbdt/parameters/training-parameters.ts";
import type { PartyTable } from "../../src/data/dataset.ts";
import { foldRows } from "../../src/data/split.ts";
import { BoostingTask } from "../../src/gbdt/boost/boosting-task.ts";
import { refreshTrees } from "../../src/gbdt/boost/refresh.ts";
import type { Model } from "../../src/gbdt/tree/model.ts";
import { predictLeaves, predictMargins } from "../../src/gbdt/tree/predict.ts";
import { type TrialOutcome, tuneOutcome } from "../../src/gbdt/tune/outcome.ts";
import { searchSchedule } from "../../src/gbdt/tune/schedule.ts";
import { TrialTurns } from "../../src/gbdt/tune/trial-turns.ts";
import { growTrials } from "../../src/gbdt/tune/tune-in-one-place.ts";
import { wholeSearch } from "../../src/party/active/tuning.ts";
import { evaluate } from "../../src/party/evaluate.ts";
import { treeTerms } from "../../src/party/job-grid.ts";
import { binningOf, binTable } from "../../src/party/tables/party-data.ts";
import { rowsOfTable } from "../../src/party/tables/table-rows.ts";
import { resolveJob } from "../../src/party/resolve-job.ts";

/** @returns metrics on the test rows, of a model with leaves from new rows */
export function refreshedMetrics(
  model: Model,
  training: TrainingParameters,
  fresh: PartyTable,
  test: PartyTable,
): Readonly<Record<string, number>> {
  const { length: count } = fresh.ids;
  const leaves = predictLeaves(model, [fresh.features], count);
  const leavesOf = (tree: number): Uint32Array =>
    Uint32Array.from({ length: count }, (_, row) => leaves[row * model.trees.length + tree]);
  const { trees } = refreshTrees(model, new BoostingTask(training, rowsOfTable(fresh)), training, leavesOf);
  const margins = predictMargins({ ...model, trees }, [test.features], test.ids.length);
  return evaluate(training, margins, rowsOfTable(test));
}

/** The rows that each fold of a search tests. */
export function foldsOf(table: PartyTable, count: number, seed: number): Uint32Array[] {
  return Array.from({ length: count }, (_, fold) => foldRows(table.ids.length, count, fold, seed).test);
}

/** A search of one trial. */
export async function searched(
  table: PartyTable,
  training: TrainingParameters,
  folds: readonly Uint32Array[],
): Promise<TrialOutcome> {
  const schedule = searchSchedule("random", 1, training.num_round);
  const search = { trials: [training], schedule, folds: folds.length, space: {} };
  const job = { ...resolveJob({}), training };
  const rows = rowsOfTable(table);
  const turns = new TrialTurns(search.trials, schedule, rows, folds);
  await growTrials(turns, {
    ...treeTerms({ ...job, training: wholeSearch(search) }),
    parties: [binTable(table, binningOf(job))],
    rows,
    folds,
  });
  return tuneOutcome(turns, search.trials, search.space, schedule, search.folds).trials[0];
}
