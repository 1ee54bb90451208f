/** What both sides of a job compare at the handshake, field by field; nothing more of the job is told to a passive party. */
import type { CodecParameters, TrainingParameters } from "../base/parameters.ts";
import { oneHotBelow } from "../gbdt/category-binning.ts";
import type { JobParameters } from "./generated/tandem/v1/tandem_pb.ts";

export type AgreedParameters = Omit<JobParameters, "$typeName" | "$unknown">;

/** Trees that share one set of gradients: one per class, unless leaves have a weight per class. */
export function treesPerRound({ objective, num_class: classes, multi_strategy: strategy }: TrainingParameters): number {
  return objective === "multi:softprob" && strategy === "one_output_per_tree" ? classes : 1;
}

export function treeCountOf({ numRound, treesPerRound: perRound }: Pick<AgreedParameters, "numRound" | "treesPerRound">): number {
  return numRound * perRound;
}

/** Trees of the rounds that the active party grows alone: the first ones, of which nothing is told. */
export function localTreesOf({ localRounds, treesPerRound: perRound }: Pick<AgreedParameters, "localRounds" | "treesPerRound">): number {
  return localRounds * perRound;
}

/**
 * Whether the trees that both sides have stored belong together. The active party stores whole rounds, each after every
 * passive party has stored the round's trees one by one: a passive party is level, or up to a round ahead.
 */
export function fitsStoredTrees(agreed: Pick<AgreedParameters, "localRounds" | "treesPerRound">, active: number, passive: number): boolean {
  const ahead = passive - Math.max(active, localTreesOf(agreed));
  return active % agreed.treesPerRound === 0 && ahead >= 0 && ahead <= agreed.treesPerRound;
}

export function agreedParameters(
  job: string,
  training: TrainingParameters,
  codec: CodecParameters,
  scheme: { readonly name: string; readonly keyBits: number },
): AgreedParameters {
  return {
    job,
    numRound: training.num_round,
    maxDepth: training.max_depth,
    maxBin: training.max_bin,
    scheme: scheme.name,
    keyBits: scheme.keyBits,
    codec: codec.codec,
    seed: training.seed,
    colsampleBytree: training.colsample_bytree,
    colsampleBylevel: training.colsample_bylevel,
    colsampleBynode: training.colsample_bynode,
    treesPerRound: treesPerRound(training),
    localRounds: Math.min(training.local_rounds, training.num_round),
    enableCategorical: training.enable_categorical,
    maxCatToOnehot: oneHotBelow(training),
  };
}
