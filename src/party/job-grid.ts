/**
 * The grid of a job, as everybody computes it who knows the rows: the active party, and whoever trains the same job in
 * one place. What a scheme can do of the resolution that is asked for depends on the job's size.
 */
import {
  type CodecParameters,
  codecParameters,
  type Defences,
  resolveParameters,
} from "../base/parameters/parameters.ts";
import type { TrainingParameters } from "../gbdt/parameters/training-parameters.ts";
import type { QuantisedGradients } from "../base/gradients/quantised-gradients.ts";
import type { RealGradients } from "../base/gradients/real-gradients.ts";
import { gradientLayout, quantiserFor } from "../codec/gradient-layout.ts";
import type { GradientLayout } from "../codec/layout.ts";
import { nodesOfJob, outputsPerTree } from "../protocol/hidden/terms.ts";
import { agreedParameters, type AgreedStart, noiseIn } from "../protocol/job-parameters.ts";
import { chosenScheme, hidesCounts, plaintextBitsOf, type SchemeChoice } from "../scheme/registry.ts";

export interface GridJob extends SchemeChoice {
  readonly training: TrainingParameters;
  readonly codec: CodecParameters;
  /** None where left out. */
  readonly defences?: Defences | undefined;
}

/** What besides the parameters decides about a job's grid. */
export interface GridRows {
  /** The rows that are trained on. */
  readonly rows: number;
  /** The model that training goes on from; null or left out: none. */
  readonly start?: Pick<AgreedStart, "trees"> | null;
}

/**
 * The codec that is asked for, with the resolution that the job's scheme has for so many rows and trees.
 * @param job of a cross-validation: with the rounds of all folds
 * @throws TandemError LAYOUT_OVERFLOW where the scheme cannot train such a job
 */
export function codecOfJob(job: GridJob, { rows, start = null }: GridRows): CodecParameters {
  const { training, codec, defences } = job;
  const { scheme, parameters } = chosenScheme(job);
  const named = { name: scheme.name, parameters };
  const agreed = agreedParameters("", training, codec, named, start && { model: "", trees: start.trees }, defences);
  return scheme.codecFor(codec, {
    rows,
    nodesMax: nodesOfJob(agreed),
    outputsPerTree: outputsPerTree(agreed),
    answerNoise: agreed.answerNoise,
    maxDepth: agreed.maxDepth,
    maxLeaves: agreed.maxLeaves,
  });
}

/** Nodes that may be asked for per output, all attempts together: what the resolution of some schemes depends on. */
export function nodesPerOutput(training: TrainingParameters): number {
  const codec = resolveParameters(codecParameters, {}); // decides nothing here
  const agreed = agreedParameters("", training, codec, { name: "", parameters: {} });
  return nodesOfJob(agreed) / agreed.treesPerRound;
}

/** The layout of gradients, where the codec is the job's already. */
export function layoutOfJob(job: GridJob, gradients: RealGradients): GradientLayout {
  const noise = noiseIn(job.training, job.codec, job.defences);
  return gradientLayout(job.codec, plaintextBitsOf(job), gradients, noise, hidesCounts(job, noise));
}

/** The quantiser of a job, where the codec is the job's already. */
export function quantiserOfJob(job: GridJob): (gradients: RealGradients) => QuantisedGradients {
  const noise = noiseIn(job.training, job.codec, job.defences);
  return quantiserFor(job.codec, plaintextBitsOf(job), noise, hidesCounts(job, noise));
}
