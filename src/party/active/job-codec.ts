/** The resolution that a job of the active party takes: what its scheme can do of the one that is asked for. */
import type { Emit } from "../../record/events.ts";
import type { TrainingParameters } from "../../gbdt/parameters/training-parameters.ts";
import type { ActiveConfig } from "../config/config.ts";
import { codecOfJob } from "../job-grid.ts";

/**
 * The config with the resolution of the job; where that is lower than asked, an event says so.
 * @param rows those that are trained on
 * @param stored what the job has begun with
 * @param training of models that grow by turns: with the rounds of all
 */
export function withCodecOfJob(
  config: ActiveConfig,
  rows: number,
  emit: Emit,
  stored?: number,
  training: TrainingParameters = config.job.training,
): ActiveConfig {
  const { name: party, job } = config;
  const { codec: asked, scheme } = job;
  const codec = stored === undefined ? codecOfJob({ ...job, training }, rows) : { ...asked, resolution_bits: stored };
  const { resolution_bits: resolutionBits } = codec;
  if (resolutionBits < asked.resolution_bits)
    emit({ type: "resolution", party, job: job.name, resolutionBits, asked: asked.resolution_bits, scheme });
  return { ...config, job: { ...job, codec } };
}
