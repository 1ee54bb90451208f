/**
 * What both sides of a job compare at the handshake, field by field; nothing more of the job is told to a passive
 * party.
 */
import { noiseScaleOf, type NoiseScale } from "../base/noise/noise-scale.ts";
import type { Defences } from "../base/parameters/parameters.ts";
import type { TrainingParameters } from "../gbdt/parameters/training-parameters.ts";
import { roundsOf } from "../gbdt/boost/layers.ts";
import { outputCountOf } from "../gbdt/objective/outputs.ts";
import { oneHotBelow } from "../gbdt/split/category-binning.ts";
import type { Job, SectionValues } from "./job.ts";
import type { JobParameters } from "../wire/generated/tandem/v1/tandem_pb.ts";

export type AgreedParameters = Omit<JobParameters, "$typeName" | "$unknown">;

/** Field by field, the scheme's own parameters beside the others. */
export function flatParameters({ schemeParameters, ...others }: AgreedParameters): FlatParameters {
  return { ...schemeParameters, ...others };
}

export type FlatParameters = Readonly<Record<string, string | number | boolean>>;

/** What lowers what the job gives away. */
export function defencesOf(agreed: AgreedParameters): Defences {
  return {
    answer_noise: agreed.answerNoise,
    min_people_share: agreed.minPeopleShare,
    max_thresholds: agreed.maxThresholds,
    masked_scoring: agreed.maskedScoring,
    hidden_outcomes: agreed.hiddenOutcomes,
  };
}

/** Trees that share one set of gradients: one per class, unless leaves have a weight per class. */
export function treesPerRound(training: TrainingParameters): number {
  return training.multi_strategy === "one_output_per_tree" ? outputCountOf(training) : 1;
}

/** Trees that begin from the same margins. */
export function treesPerLayer(training: TrainingParameters): number {
  return roundsOf(1, training) * treesPerRound(training);
}

export function treeCountOf({
  numRound,
  treesPerRound: perRound,
}: Pick<AgreedParameters, "numRound" | "treesPerRound">): number {
  return numRound * perRound;
}

/** What says where the trees begin that passive parties hear of. */
type Beginning = Pick<AgreedParameters, "localRounds" | "treesPerRound" | "startTrees">;

/**
 * The first tree that passive parties hear of. Before it come those of the model that training goes on from, which
 * everybody has, and those of the rounds that the active party grows alone, of which nothing is told.
 */
export function firstTreeOf({ localRounds, treesPerRound: perRound, startTrees }: Beginning): number {
  return Math.max(startTrees, localRounds * perRound);
}

/**
 * Whether the trees that both sides have stored belong together. The active party stores whole rounds, each after every
 * passive party has stored the round's trees one by one: a passive party is level, or up to a round ahead.
 */
export function fitsStoredTrees(agreed: Beginning, active: number, passive: number): boolean {
  const ahead = passive - Math.max(active, firstTreeOf(agreed));
  return (
    active >= agreed.startTrees && active % agreed.treesPerRound === 0 && ahead >= 0 && ahead <= agreed.treesPerRound
  );
}

export function agreedParameters(job: Omit<Job, "speed">): AgreedParameters {
  const { training, codec, privacy, start } = job;
  const startTrees = start?.trees.length ?? 0;
  const numRound = startTrees / treesPerRound(training) + roundsOf(training.num_round, training);
  return {
    job: job.name,
    numRound,
    maxDepth: training.max_depth,
    maxLeaves: training.max_leaves,
    maxBin: training.max_bin,
    scheme: job.scheme,
    schemeParameters: { ...job.schemeParameters },
    codec: codec.codec,
    seed: training.seed,
    colsampleBytree: training.colsample_bytree,
    colsampleBylevel: training.colsample_bylevel,
    colsampleBynode: training.colsample_bynode,
    treesPerRound: treesPerRound(training),
    localRounds: Math.min(roundsOf(training.local_rounds, training), numRound),
    startModel: start?.model ?? "",
    startTrees,
    enableCategorical: training.enable_categorical,
    maxCatToOnehot: oneHotBelow(training),
    answerNoise: privacy.answer_noise,
    minPeopleShare: privacy.min_people_share,
    maxThresholds: privacy.max_thresholds,
    maskedScoring: privacy.masked_scoring,
    hiddenOutcomes: privacy.hidden_outcomes,
    resolutionBits: codec.layout === "auto" ? codec.resolution_bits : 0,
    outputs: outputCountOf(training),
    padding: codec.padding,
    slotBits: codec.layout === "auto" ? 0 : codec.r,
    interactionGroups: job.interactionGroups,
  };
}

/** The noise of a job. @throws TandemError USAGE if its parameters do not go together */
export function noiseIn({
  training,
  codec,
  privacy,
}: Pick<SectionValues, "training" | "codec" | "privacy">): NoiseScale | null {
  return noiseScaleOf({
    answerNoise: privacy.answer_noise,
    resolutionBits: codec.layout === "auto" ? codec.resolution_bits : 0,
    maxDepth: training.max_depth,
    maxLeaves: training.max_leaves,
  });
}
