/** The active party's job: align, train with the passive parties, evaluate, keep the model. */
import { join } from "node:path";
import { TandemError } from "../base/error.ts";
import type { CustomObjective } from "../gbdt/objective/custom-objective.ts";
import type { ActiveWorld } from "../party/active/world.ts";
import type { Emit } from "../record/events.ts";
import type { ActiveResult } from "../record/events/job-events.ts";
import { abortableWorld, untilAborted } from "./abort.ts";
import { besideTaskCrew } from "./beside-crew.ts";
import { FederatedModel } from "./federated-model.ts";
import type { ActiveConfig } from "./parameters.ts";
import { type Predictions, readPredictions } from "./predictions.ts";
import { type ModelMetrics, toModelMetrics, type OnProgress, toProgress } from "./progress.ts";

/** Options of `train`. */
export interface TrainOptions {
  readonly onProgress?: OnProgress;
  /**
   * Gradients of your own. The parameter `objective` still says what labels, predictions and metrics are. An auditor
   * could not train the job once more: `output.verifiable` must be false.
   */
  readonly objective?: CustomObjective;
  /** Ends the job when it is aborted. The same call continues it, from the last tree that was stored. */
  readonly signal?: AbortSignal;
}

/** What a job has come to. */
export interface TrainResult {
  /** Its name, from the config or made from the time. */
  readonly job: string;
  /** Where the party's share of the model, predictions and records lie. */
  readonly folder: string;
  readonly model: FederatedModel;
  readonly metrics: ModelMetrics;
  /** Of the people who were held back for testing; null: there are none. */
  readonly predictions: Predictions | null;
}

/**
 * Runs a job of the active party, or continues one that was interrupted.
 * @param config an object or the path of a file
 * @throws TandemError; the signal's reason where it was aborted
 */
export function train(config: string | ActiveConfig, options: TrainOptions = {}): Promise<TrainResult> {
  return untilAborted(options.signal, () => run(config, options));
}

async function run(given: string | ActiveConfig, options: TrainOptions): Promise<TrainResult> {
  const { onProgress, signal, objective } = options;
  const [{ readActiveConfig }, { newJobName, unfinishedJob }, { runActive }] = await Promise.all([
    import("../party/config/config.ts"),
    import("../party/active/checkpoints.ts"),
    import("../party/active/run.ts"),
  ]);
  const config = await readActiveConfig(given, (directory) => unfinishedJob(directory) ?? newJobName(new Date()));
  let result: ActiveResult | null = null;
  const emit: Emit = (event) => {
    if (event.type === "active-result") result = event.result;
    const progress = toProgress(event);
    if (progress !== null) onProgress?.(progress);
  };
  const inWorld = (world: ActiveWorld): Promise<void> =>
    runActive(config, emit, { ...abortableWorld(world, signal), objective });
  await besideTaskCrew(config, {}, emit, inWorld, signal);
  const folder = join(config.output.directory, config.job.name);
  const { metrics } = resultIn(result);
  return {
    job: config.job.name,
    folder,
    model: await FederatedModel.open(config, config.job.name),
    metrics: toModelMetrics(metrics),
    predictions:
      metrics.test === null
        ? null
        : await readPredictions(config.output.predictions ?? join(folder, "predictions.csv")),
  };
}

function resultIn(result: ActiveResult | null): ActiveResult {
  if (result === null) throw new TandemError("INTERNAL", "the job ended without a result");
  return result;
}
