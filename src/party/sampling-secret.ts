/**
 * What a party draws its columns with (colsample_*), besides the job's seed. Derived from its secret TLS key, so that
 * it needs no care of its own and a job with the same seed draws the same columns again; a config may name another.
 */
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import type { PassiveConfig } from "./config/config.ts";

export function samplingSecretOf({
  sampling_secret: given,
  tls,
}: Pick<PassiveConfig, "sampling_secret"> & { readonly tls: Pick<PassiveConfig["tls"], "key"> }): string {
  return given ?? createHmac("sha256", readFileSync(tls.key)).update("tandem/column-sampling").digest("hex");
}
