/** Hyperparameter search on one table, with the models that its parties would train together. */
import type { TrainingParameters } from "../gbdt/parameters/training-parameters.ts";
import { withClassCount } from "../gbdt/objective/outputs.ts";
import { drawnGroups } from "../data/drawn-groups.ts";
import { foldRows } from "../data/split.ts";
import { tuneOutcome } from "../gbdt/tune/outcome.ts";
import { TrialTurns } from "../gbdt/tune/trial-turns.ts";
import { growTrials } from "../gbdt/tune/tune-in-one-place.ts";
import { checkTrials, type Search, type TuningResult, wholeSearch } from "../party/active/tuning.ts";
import { treeTerms, withGrid } from "../party/job-grid.ts";
import { noiseSecretFrom } from "../party/noise-secret.ts";
import { binningOf, binTable } from "../party/tables/party-data.ts";
import { trainableRows } from "../party/tables/table-rows.ts";
import { simulatedNoiseSecret, simulatedSecret } from "./federation.ts";
import { checkOptions, type SimulateOptions } from "./simulate-options.ts";
import { readSimulationTables } from "./simulation-tables.ts";

/** @param searchOf what is searched, given the parameters with their defaults and the number of classes */
export async function tuneInOnePlace(
  options: SimulateOptions,
  searchOf: (training: TrainingParameters) => Search | Promise<Search>,
  onTurn: (turns: TrialTurns) => void,
): Promise<Omit<TuningResult, "job">> {
  const given = await checkOptions(options);
  const { parties: tables } = (await readSimulationTables(options, given.training)).whole;
  const training = withClassCount(given.training, tables[0].classes);
  const search = await searchOf(training);
  const { trials, space, schedule, folds: count } = search;
  checkTrials(given, trials);
  const rows = trainableRows(tables[0]);
  const folds = Array.from({ length: count }, (_, fold) =>
    drawnGroups(rows.columns, rows.count, (units) => foldRows(units, count, fold, training.seed).test),
  );
  const job = withGrid({ ...given, training: wholeSearch(search) }, rows.count);
  const binning = binningOf({ ...job, training });
  const turns = new TrialTurns(trials, schedule, rows, folds);
  await growTrials(turns, {
    ...treeTerms(job),
    parties: tables.map((table) => binTable(table, binning)),
    rows,
    samplingSecrets: tables.map((_, party) => simulatedSecret(party)),
    noiseSecrets: tables.map((_, party) => noiseSecretFrom(simulatedNoiseSecret(party, training))),
    folds,
    onTurn,
  });
  return { instances: rows.count, ...tuneOutcome(turns, trials, space, schedule, count) };
}
