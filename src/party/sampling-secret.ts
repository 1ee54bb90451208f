/**
 * The secret of a party's column sampling (colsample_*), used with the job's seed. Derived from its private TLS key, so
 * that it need not be stored and a job with the same seed draws the same columns.
 */
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import type { PassiveConfig } from "./config/config.ts";
import type { Experiment } from "./experiment.ts";

export function deriveSamplingSecret(party: {
  readonly experiment?: Pick<Experiment, "samplingSecret">;
  readonly tls: Pick<PassiveConfig["tls"], "key">;
}): string {
  const derived = (): string =>
    createHmac("sha256", readFileSync(party.tls.key)).update("tandem/column-sampling").digest("hex");
  return party.experiment?.samplingSecret ?? derived();
}
