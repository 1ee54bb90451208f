/** Opens a passive party's record of a job for verifying it: what it commits to, and where its chain goes on. */
import type { BinnedFeature } from "../../gbdt/split/binning.ts";
import { type AgreedParameters, firstTreeOf } from "../../protocol/job-parameters.ts";
import type { ActiveHello } from "../../wire/generated/tandem/v1/tandem_pb.ts";
import { passiveFacts } from "../job-facts.ts";
import { readSigner } from "../model/signer.ts";
import { noiseSecretOf } from "../noise-secret.ts";
import { minimumsOf } from "../policy.ts";
import type { PassiveCheckpoints } from "./checkpoints.ts";
import type { DeskFiles } from "./desk-files.ts";
import { PassiveEvidence } from "./job-evidence.ts";
import type { JobRows } from "./job-rows.ts";
import type { RowDigests } from "./row-digests.ts";

export interface VerifiedJob {
  readonly hello: ActiveHello;
  readonly agreed: AgreedParameters;
  readonly rows: JobRows;
  readonly digests: RowDigests;
  readonly features: readonly BinnedFeature[];
  readonly checkpoints: PassiveCheckpoints;
  /** The active party's pinned name. */
  readonly peer: string;
}

/** @throws TandemError CHECKPOINT if what was committed to has changed */
export async function openEvidence(files: DeskFiles, job: VerifiedJob): Promise<PassiveEvidence> {
  const { config } = files;
  const { hello, agreed, rows, digests, features, checkpoints, peer } = job;
  const firstTree = firstTreeOf(agreed);
  const signer = await files.using(() => readSigner(config.tls, new Date()));
  const { permutationSecret, samplingSecret } = checkpoints;
  return PassiveEvidence.open(
    {
      name: config.name,
      job: agreed.job,
      jobId: hello.jobId,
      beginning: checkpoints.beginning,
      isFinished: checkpoints.isFinished,
      facts: passiveFacts({
        name: config.name,
        idsDigest: digests.ids,
        instanceCount: rows.training.ids.length,
        features,
        permutationSecret,
        samplingSecret,
        noiseSecret: noiseSecretOf(config.experiment.noiseSecret, permutationSecret),
        minimums: minimumsOf(config.policy),
        allowsUnpacked: config.experiment.allowsUnpacked ?? false,
      }),
      signer,
      peer,
      fingerprint: config.active.find(({ name }) => name === peer)?.fingerprint,
      tree: Math.max(hello.trees, firstTree),
      firstTree,
      isVerifiable: config.output.verifiable,
    },
    files.checkpointsOf(agreed.job),
    (work) => checkpoints.keep(work),
  );
}
