/**
 * What a simulation would cost, without running it: the cost model on the user's own table, after a short calibration.
 */
import { availableParallelism } from "node:os";
import type { PartyTable } from "../../data/dataset.ts";
import { binningOf, type BinningParameters, binTable } from "../../party/party-data.ts";
import { listCandidates, mostFrequentBins } from "../../scheme/candidates/candidate-plan.ts";
import type { CostModel, JobShape, PassiveShape, Prediction } from "../../scheme/cost-model.ts";
import { chosenScheme } from "../../scheme/registry.ts";
import { type PreparedSimulation, prepareSimulation } from "./prepare-simulation.ts";
import type { SimulateOptions } from "./simulate-options.ts";

export interface Estimate extends Prediction {
  readonly kernel: string;
  readonly cores: number;
  readonly cpuSeconds: number;
  /** All parties on this machine, as `simulate` runs them. */
  readonly wallSeconds: number;
  readonly secondsPerTree: number;
}

/** Processes, certificates and key. */
const startSeconds = 2.3;
/** Cores that stand idle while one side waits for the other. */
const idleFraction = 0.1;

export async function estimate(options: SimulateOptions): Promise<Estimate> {
  const prepared = await prepareSimulation(options);
  const { scheme } = chosenScheme(options);
  const costs = await scheme.costModel(options);
  return { ...estimateJob(prepared, costs), kernel: scheme.kernelName() };
}

/** A job whose tables have been read and whose layout has been proven. */
export type EstimatedJob = Pick<PreparedSimulation, "train" | "training" | "speed" | "layout">;

export function estimateJob(
  { train, training, speed, layout }: EstimatedJob,
  costs: CostModel,
): Omit<Estimate, "kernel"> {
  const shape: JobShape = {
    rows: train[0].ids.length,
    trees: training.num_round,
    // Without a limit, of a tree whose leaves are level.
    depth: training.max_depth || Math.max(1, Math.ceil(Math.log2(training.max_leaves))),
    layout,
    speed,
    passives: train.slice(1).map((table) => passiveShape(table, binningOf(training), speed.skip_bin)),
  };
  const prediction = costs.predict(shape);
  const cores = availableParallelism();
  const cpuSeconds = prediction.passiveCpuSeconds.reduce((a, b) => a + b, prediction.activeCpuSeconds);
  const trainingSeconds = cpuSeconds / Math.min(cores, 2 + train.length - 1) / (1 - idleFraction);
  return {
    ...prediction,
    cores,
    cpuSeconds,
    wallSeconds: trainingSeconds + startSeconds,
    secondsPerTree: trainingSeconds / training.num_round,
  };
}

function passiveShape(table: PartyTable, binning: BinningParameters, skipBin: boolean): PassiveShape {
  const features = binTable(table, binning);
  const rows = Uint32Array.from({ length: table.ids.length }, (_, i) => i);
  const skipped = mostFrequentBins(features, rows);
  let rootAdditions = 0;
  features.forEach((feature, f) => {
    for (const bin of feature.bins) if (!skipBin || bin !== skipped[f]) rootAdditions++;
  });
  return { candidates: listCandidates(features).length, rootAdditions };
}
