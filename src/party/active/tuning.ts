/**
 * `tandem tune` between companies: a search over parameters by cross-validation, all trials in one job, after one
 * alignment (interleaved-training.ts). Of its models only the metrics are kept.
 */
import { join } from "node:path";
import type { TrainingParameters } from "../../gbdt/parameters/training-parameters.ts";
import { type TuneOutcome, tuneOutcome } from "../../gbdt/tune/outcome.ts";
import { type Rung, roundsIn } from "../../gbdt/tune/schedule.ts";
import type { SearchSpace } from "../../gbdt/tune/search-space.ts";
import { TrialTurns, jointLimits } from "../../gbdt/tune/trial-turns.ts";
import { checkHiddenSums } from "../../protocol/hidden-sums.ts";
import type { Job } from "../../protocol/job.ts";
import type { Emit } from "../../record/events.ts";
import type { ActiveConfig } from "../config/config.ts";
import { trainInterleaved } from "./interleaved-training.ts";
import { type ActiveWorld, realWorld } from "./world.ts";

export interface Search {
  readonly trials: readonly TrainingParameters[];
  readonly space: SearchSpace;
  readonly schedule: readonly Rung[];
  readonly folds: number;
}

export interface TuningResult extends TuneOutcome {
  readonly job: string;
  readonly instances: number;
}

/** The agreed parameters of a search: all rounds of all trials and folds, and the maxima over the trials. */
export function wholeSearch({ trials, schedule, folds }: Search): TrainingParameters {
  return jointLimits(trials, roundsIn(schedule) * folds);
}

/** @throws TandemError USAGE if the job's defences cannot be used with the parameters of a trial */
export function checkTrials(job: Job, trials: readonly TrainingParameters[]): void {
  for (const training of trials) checkHiddenSums({ ...job, training });
}

/** @throws TandemError as training does */
export async function runTuning(
  config: ActiveConfig,
  search: Search & { readonly onTurn?: (turns: TrialTurns) => void },
  emit: Emit,
  world: ActiveWorld = realWorld,
): Promise<TuningResult> {
  const { space, schedule, folds, onTurn } = search;
  const folder = join(config.output.directory, config.job.name);
  await world.ownFiles?.(config, emit);
  const release = await world.lock(folder);
  try {
    let { trials } = search;
    const { turns, instances } = await trainInterleaved(
      // The models are not kept: there is nothing to verify.
      { ...config, output: { ...config.output, verifiable: false } },
      ({ num_class }) => {
        trials = search.trials.map((trial) => ({ ...trial, num_class }));
        checkTrials(config.job, trials);
        const whole = wholeSearch({ ...search, trials });
        return {
          folds,
          kind: "search",
          training: whole,
          whole,
          turns: (rows, held) => new TrialTurns(trials, schedule, rows, held),
          ...(onTurn === undefined ? {} : { onTurn }),
        };
      },
      emit,
      world,
    );
    return { job: config.job.name, instances, ...tuneOutcome(turns, trials, space, schedule, folds) };
  } finally {
    await release();
  }
}
