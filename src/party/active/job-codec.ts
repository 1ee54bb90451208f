/** The resolution of a job: the requested one, or the finest that its scheme supports. */
import type { Emit } from "../../record/events.ts";
import type { TrainingParameters } from "../../gbdt/parameters/training-parameters.ts";
import { hiddenSumsCodec } from "../../protocol/hidden-sums.ts";
import type { ActiveConfig } from "../config/config.ts";
import { codecOfJob } from "../job-grid.ts";

/**
 * The config with the resolution of the job; a lower one than requested is reported as an event.
 * @param rows number of training rows
 * @param stored the resolution that the job started with
 * @param training for interleaved models, with the rounds of all
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
  if (resolutionBits < asked.resolution_bits) {
    const isForHiddenSums = job.privacy.hidden_sums && resolutionBits === hiddenSumsCodec(asked, rows).resolution_bits;
    const cause = isForHiddenSums ? { isForHiddenSums } : {};
    emit({ type: "resolution", party, job: job.name, resolutionBits, asked: asked.resolution_bits, scheme, ...cause });
  }
  return { ...config, job: { ...job, codec } };
}
