/**
 * What a party draws its columns with (colsample_*), besides the job's seed. Derived from its secret TLS key, so that
 * it needs no care of its own and a job with the same seed draws the same columns again.
 */
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import type { PassiveConfig } from "./config/config.ts";
import type { Experiment } from "./experiment.ts";

export function samplingSecretOf(party: {
  readonly experiment?: Pick<Experiment, "samplingSecret">;
  readonly tls: Pick<PassiveConfig["tls"], "key">;
}): string {
  const derived = (): string =>
    createHmac("sha256", readFileSync(party.tls.key)).update("tandem/column-sampling").digest("hex");
  return party.experiment?.samplingSecret ?? derived();
}
