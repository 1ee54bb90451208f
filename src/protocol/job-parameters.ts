/** What both sides of a job compare at the handshake, field by field; nothing more of the job is told to a passive party. */
import type { CodecParameters, TrainingParameters } from "../base/parameters.ts";
import type { JobParameters } from "./generated/tandem/v1/tandem_pb.ts";

export type AgreedParameters = Omit<JobParameters, "$typeName" | "$unknown">;

export function agreedParameters(
  job: string,
  training: TrainingParameters,
  codec: CodecParameters,
  scheme: { readonly name: string; readonly keyBits: number },
): AgreedParameters {
  return {
    job,
    numRound: training.num_round,
    maxDepth: training.max_depth,
    maxBin: training.max_bin,
    scheme: scheme.name,
    keyBits: scheme.keyBits,
    codec: codec.codec,
    seed: training.seed,
    colsampleBytree: training.colsample_bytree,
    colsampleBylevel: training.colsample_bylevel,
    colsampleBynode: training.colsample_bynode,
  };
}
