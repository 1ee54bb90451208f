/**
 * The parameters that both parties of a job compare at the handshake, field by field; a passive party receives no
 * others.
 */
import { TandemError } from "../base/error.ts";
import { toNoiseScale, type NoiseScale } from "../base/noise/noise-scale.ts";
import type { LayoutTerms } from "../codec/agreed-layout.ts";
import { type Defences, mapDefences } from "../privacy/defences/defences.ts";
import type { TrainingParameters } from "../gbdt/parameters/training-parameters.ts";
import { gradientRoundCount } from "../gbdt/boost/gradient-rounds.ts";
import { outputsPerInstance } from "../gbdt/objective/outputs.ts";
import { oneHotBelow } from "../gbdt/split/category-binning.ts";
import type { Job, SectionValues } from "./job.ts";
import type { JobParameters } from "../wire/generated/tandem/v1/tandem_pb.ts";
import { defenceFields, receivedDefences, type SentDefence, sentDefences } from "./agreed-defences.ts";

export type AgreedParameters = Omit<JobParameters, "$typeName" | "$unknown" | "defences"> & {
  readonly defences: Defences;
};

type ProposedParameters = Omit<AgreedParameters, "defences"> & { readonly defences: SentDefence[] };

/** As the active party sends them. */
export function proposedParameters(agreed: AgreedParameters): ProposedParameters {
  return { ...agreed, defences: sentDefences(agreed.defences) };
}

/**
 * As a passive party receives them. Only the values of defences are checked here: party/policy.ts checks the others.
 * @throws TandemError HANDSHAKE_MISMATCH
 */
export function receivedParameters(parameters: JobParameters | undefined, party: string): AgreedParameters {
  if (parameters === undefined)
    throw new TandemError("HANDSHAKE_MISMATCH", `${party}: the active party names no parameters`);
  const { $typeName: _type, $unknown: _unknown, defences, ...others } = parameters;
  return { ...others, defences: receivedDefences(defences, party) };
}

/** All fields in one object, including the scheme's own parameters and the defences. */
export function flatParameters({ schemeParameters, defences, ...others }: AgreedParameters): FlatParameters {
  return { ...schemeParameters, ...others, ...defenceFields(defences) };
}

export type FlatParameters = Readonly<Record<string, string | number | boolean>>;

/** The parameters that determine the layout of plaintexts and the width of noise. */
export function layoutTerms(agreed: AgreedParameters): LayoutTerms {
  const { answer_noise: answerNoise, hidden_sums: masksSums } = agreed.defences;
  return { ...agreed, answerNoise, masksSums };
}

/** Trees that share one set of gradients: one per class, unless leaves have a weight per class. */
export function treesPerRound(training: TrainingParameters): number {
  return training.multi_strategy === "one_output_per_tree" ? outputsPerInstance(training) : 1;
}

/** Trees of one boosting round. */
export function treesPerBoostingRound(training: TrainingParameters): number {
  return gradientRoundCount(1, training) * treesPerRound(training);
}

export function treeCountOf({
  numRound,
  treesPerRound: perRound,
}: Pick<AgreedParameters, "numRound" | "treesPerRound">): number {
  return numRound * perRound;
}

/** The parameters that determine the first tree that passive parties take part in. */
type Beginning = Pick<AgreedParameters, "localRounds" | "treesPerRound" | "startTrees">;

/**
 * The first tree that passive parties take part in. Before it come the trees of the start model, which every party has,
 * and those of local rounds, of which passive parties receive nothing.
 */
export function firstTreeOf({ localRounds, treesPerRound: perRound, startTrees }: Beginning): number {
  return Math.max(startTrees, localRounds * perRound);
}

/**
 * Whether the numbers of trees that both parties have stored are consistent. The active party stores whole rounds, each
 * after every passive party has stored the round's trees one by one: a passive party has as many trees, or up to a
 * round more.
 */
export function fitsStoredTrees(agreed: Beginning, active: number, passive: number): boolean {
  const ahead = passive - Math.max(active, firstTreeOf(agreed));
  return (
    active >= agreed.startTrees && active % agreed.treesPerRound === 0 && ahead >= 0 && ahead <= agreed.treesPerRound
  );
}

export function agreedParameters(job: Job): AgreedParameters {
  const { training, codec, privacy, start } = job;
  const startTrees = start?.trees.length ?? 0;
  const numRound = startTrees / treesPerRound(training) + gradientRoundCount(training.num_round, training);
  return {
    job: job.name,
    numRound,
    maxDepth: training.max_depth,
    maxLeaves: training.max_leaves,
    maxBin: training.max_bin,
    sketchedCuts: training.bin_cuts === "xgboost",
    scheme: job.scheme,
    schemeParameters: { ...job.schemeParameters },
    codec: codec.codec,
    seed: training.seed,
    colsampleBytree: training.colsample_bytree,
    colsampleBylevel: training.colsample_bylevel,
    colsampleBynode: training.colsample_bynode,
    treesPerRound: treesPerRound(training),
    localRounds: Math.min(gradientRoundCount(training.local_rounds, training), numRound),
    startModel: start?.model ?? "",
    startTrees,
    enableCategorical: training.enable_categorical,
    maxCatToOnehot: oneHotBelow(training),
    defences: mapDefences<Defences>((name) => privacy[name]),
    resolutionBits: codec.layout === "auto" ? codec.resolution_bits : 0,
    outputs: outputsPerInstance(training),
    padding: codec.padding,
    slotBits: codec.layout === "auto" ? 0 : codec.r,
    interactionGroups: job.interactionGroups,
    vetting: job.vetting === true,
  };
}

/** The noise of a job. @throws TandemError USAGE if its parameters are incompatible */
export function noiseIn({
  training,
  codec,
  privacy,
}: Pick<SectionValues, "training" | "codec" | "privacy">): NoiseScale | null {
  return toNoiseScale({
    answerNoise: privacy.answer_noise,
    resolutionBits: codec.layout === "auto" ? codec.resolution_bits : 0,
    maxDepth: training.max_depth,
    maxLeaves: training.max_leaves,
    outputs: outputsPerInstance(training),
  });
}
