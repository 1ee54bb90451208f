/**
 * The grid of a job, computed from its rows by the active party and by centralised training. The resolution that a
 * scheme supports depends on the job's size.
 */
import type { CodecParameters } from "../base/parameters/parameters.ts";
import type { QuantisedGradients } from "../base/gradients/quantised-gradients.ts";
import type { RealGradients } from "../base/gradients/real-gradients.ts";
import { gradientLayout, quantiserFor } from "../codec/gradient-layout.ts";
import type { GradientLayout } from "../codec/layout.ts";
import type { CentralisedTraining } from "../gbdt/boost/train.ts";
import type { TrainingParameters } from "../gbdt/parameters/training-parameters.ts";
import { membershipFacts } from "../base/membership.ts";
import { hiddenSumsCodec } from "../protocol/hidden-sums.ts";
import { nodesOfJob, outputsPerTree } from "../protocol/hidden/terms.ts";
import type { Job } from "../protocol/job.ts";
import { agreedParameters, noiseIn } from "../protocol/job-parameters.ts";
import { hidesCounts, plaintextBitsOf, schemeNamed } from "../scheme/registry.ts";
import { resolveJob } from "./resolve-job.ts";

/**
 * The requested codec, with the resolution that the job's scheme supports for its rows and trees.
 * @param job of a cross-validation: with the rounds of all folds
 * @param rows number of training rows
 * @throws TandemError LAYOUT_OVERFLOW if the scheme cannot train the job
 */
export function codecOfJob(job: Job, rows: number): CodecParameters {
  const agreed = agreedParameters(job);
  const asked = job.privacy.hidden_sums ? hiddenSumsCodec(job.codec, rows) : job.codec;
  return schemeNamed(job.scheme).codecFor(asked, {
    rows,
    nodesMax: nodesOfJob(agreed),
    outputsPerTree: outputsPerTree(agreed),
    outputs: agreed.outputs,
    answerNoise: agreed.defences.answer_noise,
    maxDepth: agreed.maxDepth,
    maxLeaves: agreed.maxLeaves,
  });
}

/** The job with that codec. @throws as codecOfJob does */
export function withGrid(job: Job, rows: number): Job {
  return { ...job, codec: codecOfJob(job, rows) };
}

/** Nodes that may be requested per output over all attempts: the resolution of some schemes depends on it. */
export function nodesPerOutput(training: TrainingParameters): number {
  const agreed = agreedParameters({ ...resolveJob({}), training }); // nothing else decides here
  return nodesOfJob(agreed) / agreed.treesPerRound;
}

/** The layout of gradients, where the codec is the job's already. */
export function layoutOfJob(job: Job, gradients: RealGradients): GradientLayout {
  const noise = noiseIn(job);
  return gradientLayout(job.codec, plaintextBitsOf(job), gradients, noise, ...hiddenFacts(job, noise));
}

/** The quantiser of a job, where the codec is the job's already. */
export function quantiserOfJob(job: Job): (gradients: RealGradients) => QuantisedGradients {
  const noise = noiseIn(job);
  return quantiserFor(job.codec, plaintextBitsOf(job), noise, ...hiddenFacts(job, noise));
}

/** Whether counts are not sent, and whether plaintexts have room for masks. */
function hiddenFacts(job: Job, noise: object | null): [hidesCounts: boolean, masksSums: boolean] {
  const { hidden_sums: hidesSums } = job.privacy;
  const { countsAreSent } = membershipFacts[schemeNamed(job.scheme).membership];
  return [hidesCounts(job, noise, hidesSums), hidesSums && countsAreSent];
}

/** What of a job decides about its trees, where the codec is the job's already. */
export function treeTerms(
  job: Job,
): Required<Pick<CentralisedTraining, "parameters" | "quantise" | "defences" | "membership">> {
  return {
    parameters: job.training,
    quantise: quantiserOfJob(job),
    defences: job.privacy,
    membership: schemeNamed(job.scheme).membership,
  };
}
