/** A job that this party takes part in: data that all parts of an attempt share. */
import type { BinnedFeature } from "../../gbdt/split/binning.ts";
import type { AgreedParameters } from "../../protocol/job-parameters.ts";
import type { VettedColumn } from "../../protocol/vetting.ts";
import type { ActiveHello } from "../../wire/generated/tandem/v1/tandem_pb.ts";
import type { PassiveConfig } from "../config/config.ts";
import type { PassiveCommitment } from "../job-facts.ts";
import { deriveNoiseSecret } from "../noise-secret.ts";
import { toMinimums } from "../policy.ts";
import type { PassiveCheckpoints } from "./checkpoints.ts";
import type { JobRows } from "./job-rows.ts";
import type { RowDigests } from "./row-digests.ts";

export interface AdmittedJob {
  readonly config: PassiveConfig;
  readonly hello: ActiveHello;
  readonly agreed: AgreedParameters;
  readonly rows: JobRows;
  readonly digests: RowDigests;
  /** Features of the training rows. */
  readonly features: readonly BinnedFeature[];
  /** What a vetting sends about each of them; empty: it is none. */
  readonly columns: readonly VettedColumn[];
  readonly checkpoints: PassiveCheckpoints;
  /** The active party's pinned name. */
  readonly peer: string;
}

/** The party's commitment: the inputs that its role computes with. */
export function committedTo({ config, rows, digests, features, checkpoints }: AdmittedJob): PassiveCommitment {
  const { permutationSecret, samplingSecret } = checkpoints;
  return {
    name: config.name,
    idsDigest: digests.ids,
    instanceCount: rows.training.ids.length,
    features,
    permutationSecret,
    samplingSecret,
    noiseSecret: deriveNoiseSecret(config.experiment.noiseSecret, permutationSecret),
    minimums: toMinimums(config.policy),
    allowsUnpacked: config.experiment.allowsUnpacked ?? false,
  };
}
