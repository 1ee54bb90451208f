/**
 * What simulations, experiments and tests change in a party. No config and no option of a command has a field for it:
 * the process that starts the party hands it over.
 */
import type { CodecParameters } from "../base/parameters/parameters.ts";
import type { Shortcuts } from "../scheme/shortcuts.ts";
import type { DailyAmounts } from "../store/daily-file.ts";

export interface Experiment {
  /** What columns are drawn with, in place of a secret derived from the TLS key: repeats a job with other keys. */
  readonly samplingSecret?: string;
  /** What noise is made with. Two jobs that share it show the difference of their sums without noise. */
  readonly noiseSecret?: string;
  /** A finer grid of gradients than parties accept otherwise. */
  readonly resolutionBitsMax?: number;
  /** A sum may come back in a ciphertext of its own, which makes marking instances easier. */
  readonly allowsUnpacked?: boolean;
  /** How gradients are encoded, in place of what the config says. */
  readonly codec?: CodecParameters;
  /** What is switched off. */
  readonly shortcuts?: Shortcuts;
  /** In place of the day's limits. */
  readonly dailyLimits?: Partial<DailyAmounts>;
}
