/**
 * `tandem cv` between companies: the models of all folds in one job (interleaved-training.ts).
 */
import { join } from "node:path";
import { type CrossValidationOutcome, FoldTurns, withRoundsOfAllFolds } from "../../gbdt/boost/fold-turns.ts";
import type { Emit } from "../../record/events.ts";
import type { ActiveConfig } from "../config/config.ts";
import { trainInterleaved } from "./interleaved-training.ts";
import { type ActiveWorld, realWorld } from "./world.ts";

export interface CrossValidationOptions {
  readonly folds: number;
  /** After each round that all folds have had. */
  readonly onRound?: (round: number, means: CrossValidationOutcome["history"][number]) => void;
}

export interface CrossValidationResult extends CrossValidationOutcome {
  readonly job: string;
  /** Where it was written. */
  readonly path: string;
  readonly instances: number;
}

/** @throws TandemError as training does */
export async function runCrossValidation(
  config: ActiveConfig,
  { folds, onRound }: CrossValidationOptions,
  emit: Emit,
  world: ActiveWorld = realWorld,
): Promise<CrossValidationResult> {
  const folder = join(config.output.directory, config.job.name);
  await world.ownFiles?.(config, emit);
  const release = await world.lock(folder);
  try {
    let reported = 0;
    const { turns, instances } = await trainInterleaved(
      config,
      (training) => ({
        folds,
        kind: "cross-validation",
        training,
        whole: withRoundsOfAllFolds(training, folds),
        turns: (rows, held) => new FoldTurns(training, rows, held),
        onTurn: ({ roundsDone, latest }) => {
          if (roundsDone === reported || latest === null) return;
          reported = roundsDone;
          onRound?.(roundsDone - 1, latest);
        },
      }),
      emit,
      world,
    );
    const path = join(folder, "cross-validation.json");
    await world.storage.makeFolder(folder);
    const result = { job: config.job.name, path, ...turns.outcome(), instances };
    await world.storage.write(path, `${JSON.stringify(result)}\n`);
    return result;
  } finally {
    await release();
  }
}
