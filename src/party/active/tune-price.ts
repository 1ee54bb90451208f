/** The cost of a search for passive parties, counted before it starts. */
import { toColumnRates } from "../../gbdt/boost/column-sampling.ts";
import { toGrowParameters } from "../../gbdt/boost/train.ts";
import { nodesAskedMax } from "../../gbdt/tree/grow.ts";
import { treesPerBoostingRound } from "../../protocol/job-parameters.ts";
import type { ActiveConfig } from "../config/config.ts";
import { type Search, wholeSearch } from "./tuning.ts";

export function tunePrice({ job: { training, privacy }, passives }: ActiveConfig, search: Search) {
  const whole = wholeSearch(search);
  const trees = whole.num_round * treesPerBoostingRound(whole);
  return {
    trials: search.trials.length,
    folds: search.folds,
    trees,
    treesOfOne: training.num_round * treesPerBoostingRound(training),
    nodes: trees * nodesAskedMax(toGrowParameters(whole), toColumnRates(whole)),
    thresholds: privacy.max_thresholds,
    parties: passives.map(({ name }) => name),
  };
}
