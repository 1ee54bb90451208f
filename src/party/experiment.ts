/**
 * What simulations, experiments and tests change in a party. No config and no option of a command has a field for it:
 * the process that starts the party hands it over.
 */
import type { CodecParameters } from "../base/parameters/parameters.ts";
import type { Shortcuts } from "../scheme/shortcuts.ts";
import type { DailyAmounts } from "../store/daily-file.ts";

export interface Experiment {
  /** Column sampling secret, in place of one derived from the TLS key: reproduces a job with other keys. */
  readonly samplingSecret?: string;
  /** Noise secret. The difference of two jobs that share it has no noise. */
  readonly noiseSecret?: string;
  /** A finer grid of gradients than parties accept otherwise. */
  readonly resolutionBitsMax?: number;
  /** More overflow protection bits per slot than parties accept otherwise. */
  readonly paddingMax?: number;
  /** A sum may come back in a ciphertext of its own, which makes marking instances easier. */
  readonly allowsUnpacked?: boolean;
  /** How gradients are encoded, in place of what the config says. */
  readonly codec?: CodecParameters;
  /** Shortcuts that are switched off. */
  readonly shortcuts?: Shortcuts;
  /** In place of the daily limits. */
  readonly dailyLimits?: Partial<DailyAmounts>;
}
