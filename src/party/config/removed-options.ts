/** Fields that configs of earlier versions may have, and what to do about each. */
import type { ConfigFile } from "./config-file.ts";

const connectionString = "put the connection string into a file of its own and name it by 'data.postgres.url_file'";
const fixedLimit = "the limit is fixed now; delete the line";
const shortcuts = "all shortcuts are on; delete the block (experiments of a clone switch them off)";
const paperCodec = "gradients are encoded with proven layouts only; delete the line (experiments of a clone have it)";
const ownSecret = "every party derives its own secret; delete the line";

const removedOptions: Readonly<Record<string, string>> = {
  speed: shortcuts,
  "codec.codec": paperCodec,
  "codec.layout": paperCodec,
  "codec.shift": paperCodec,
  "codec.codec_alpha": paperCodec,
  "codec.alpha": paperCodec,
  "codec.alpha_max": paperCodec,
  "codec.r": paperCodec,
  "codec.padding": paperCodec,
  sampling_secret: ownSecret,
  noise_secret: ownSecret,
  "data.postgres.url": connectionString,
  "data.postgres.url_env": connectionString,
  "data.postgres.insecure_url_file": "'tls.insecure_key_file: true' allows it for all secrets of the config",
  "policy.codecs": "a job has one codec; delete the line",
  "policy.unpacked": "sums come back packed; delete the line",
  "policy.max_resolution_bits": "it is 24, as 'codec.resolution_bits' is at most; delete the line",
  "policy.min_deciding_share": "it is 0.5; delete the line",
  "policy.budget.daily.alignments": fixedLimit,
  "policy.budget.daily.jobs": fixedLimit,
  "policy.budget.daily.attempts": fixedLimit,
  "policy.budget.daily.histogram_requests": fixedLimit,
};

/** Before the fields are looked at one by one. @throws TandemError FILE_FORMAT naming the line */
export function refuseRemoved(file: ConfigFile): void {
  for (const [option, advice] of Object.entries(removedOptions)) {
    const path = option.split(".");
    if (file.hasIn(path)) throw file.error(path, `field '${option}' was removed: ${advice}`);
  }
}
