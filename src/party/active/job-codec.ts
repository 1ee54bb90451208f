/** The resolution that a job of the active party takes: what its scheme can do of the one that is asked for. */
import type { Emit } from "../../record/events.ts";
import type { ActiveConfig } from "../config/config.ts";
import { codecOfJob, type GridJob, type GridRows } from "../job-grid.ts";

/** What decides about it besides the config. */
export interface GridOfJob extends GridRows {
  /** Of a cross-validation: with the rounds of all folds. Default: the config's. */
  readonly training?: GridJob["training"];
}

/**
 * The config with the resolution of the job; where that is lower than asked, somebody is told.
 * @param stored what the job has begun with
 */
export function withCodecOfJob(
  config: ActiveConfig,
  grid: GridOfJob,
  emit: Emit,
  stored: number | undefined = undefined,
): ActiveConfig {
  const { codec: asked, privacy: defences, name: party, job } = config;
  const own = { ...config, defences, training: grid.training ?? config.training };
  const codec = stored === undefined ? codecOfJob(own, grid) : { ...asked, resolution_bits: stored };
  const { resolution_bits: resolutionBits } = codec;
  if (resolutionBits < asked.resolution_bits)
    emit({ type: "resolution", party, job, resolutionBits, asked: asked.resolution_bits, scheme: config.scheme });
  return { ...config, codec };
}
