/** Opens the active party's record of a job for verifying it: what it commits to, and where its chains go on. */
import type { Storage } from "../../base/files/storage.ts";
import type { BinnedFeature } from "../../gbdt/split/binning.ts";
import { schemeNamed } from "../../scheme/registry.ts";
import type { ActiveCheckpoint } from "../../store/active-checkpoint.ts";
import type { ActiveConfig } from "../config/config.ts";
import { readSigner } from "../model/signer.ts";
import { ActiveEvidence } from "./job-evidence.ts";
import { activeFacts } from "./job-facts.ts";
import type { JobTables } from "./tables.ts";

export interface VerifiedJob {
  readonly config: ActiveConfig;
  readonly prepared: {
    readonly tables: Pick<JobTables, "rows">;
    readonly features: readonly BinnedFeature[];
    readonly digest: Uint8Array;
  };
  readonly begun: Pick<ActiveCheckpoint, "jobId" | "samplingSecret" | "secret" | "aligned" | "start">;
  readonly firstTree: number;
  /** Of a cross-validation; left out: none. */
  readonly folds?: number;
  readonly folder: string;
  readonly storage: Storage;
}

export async function openActiveEvidence(job: VerifiedJob): Promise<ActiveEvidence> {
  const { config, prepared, begun, firstTree, folds = 0, folder, storage } = job;
  const { tables, features, digest } = prepared;
  const { jobId, samplingSecret, secret, aligned, start } = begun;
  return ActiveEvidence.open({
    name: config.name,
    job: config.job.name,
    jobId,
    facts: activeFacts({
      name: config.name,
      passives: config.passives,
      job: config.job,
      idsDigest: digest,
      rows: tables.rows,
      features,
      samplingSecret,
      secret,
      startModel: start?.model ?? "",
      folds,
    }),
    signer: await readSigner(config.tls, new Date()),
    passives: config.passives,
    firstTree,
    aligned,
    isVerifiable: config.output.verifiable,
    isReplayable: schemeNamed(config.job.scheme).replay !== undefined,
    folder,
    storage,
  });
}
