/** Opens the active party's record of a job for verifying it: what it commits to, and where its chains continue. */
import type { Storage } from "../../base/files/storage.ts";
import { schemeNamed } from "../../scheme/registry.ts";
import { activeFacts } from "../job-facts.ts";
import { readSigner } from "../model/signer.ts";
import type { PreparedJob } from "./attempts.ts";
import type { BegunJob } from "./checkpoints.ts";
import { ActiveEvidence } from "./job-evidence.ts";

export interface EvidencePlace {
  /** The first tree that passive parties take part in. */
  readonly firstTree: number;
  /** Of a cross-validation; 0: none. */
  readonly folds: number;
  readonly folder: string;
  readonly storage: Storage;
}

export async function openActiveEvidence(
  prepared: PreparedJob,
  begun: BegunJob,
  place: EvidencePlace,
): Promise<ActiveEvidence> {
  const { name, passives, job, output, tls } = prepared.config;
  return ActiveEvidence.open({
    ...place,
    name,
    passives,
    job: job.name,
    jobId: begun.jobId,
    aligned: begun.aligned,
    facts: activeFacts({ ...prepared, ...begun, name, passives, job, folds: place.folds }),
    signer: await readSigner(tls, new Date()),
    isVerifiable: output.verifiable,
    isReplayable: schemeNamed(job.scheme).replay !== undefined,
  });
}
