/**
 * The secret of a party's column sampling (colsample_*) in one job, used with the job's seed. Derived from its private
 * TLS key and the job's name, so that a job of the same name and seed draws the same columns, and the opened evidence
 * of one job does not reveal the columns of others.
 */
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import type { PassiveConfig } from "./config/config.ts";
import type { Experiment } from "./experiment.ts";

export function deriveSamplingSecret(
  party: {
    readonly experiment?: Pick<Experiment, "samplingSecret">;
    readonly tls: Pick<PassiveConfig["tls"], "key">;
  },
  job: string,
): string {
  const derived = (): string =>
    createHmac("sha256", readFileSync(party.tls.key)).update(`tandem/column-sampling/${job}`).digest("hex");
  return party.experiment?.samplingSecret ?? derived();
}
