/** What a party keeps of a job so that it can be verified, as it is before the first tree: what it commits to. */
import { osRandom } from "../base/random.ts";
import { commitmentTo, type Facts, saltBytes } from "../protocol/chain/commitment.ts";
import type { Signer } from "../store/consent-file.ts";
import type { EvidenceFile } from "../store/evidence-files.ts";
import { toHex } from "../store/stored-numbers.ts";
import type { ChainRole } from "./job-chain.ts";

export interface CommitmentTerms {
  readonly name: string;
  readonly job: string;
  readonly facts: Facts;
  readonly signer: Signer;
  /** The first tree that passive parties hear of. */
  readonly firstTree: number;
  /** Whether what is committed to may be opened one day. */
  readonly isVerifiable: boolean;
}

/**
 * @param run tells this beginning of the job from others
 * @param aligned which rows take part, where that is kept
 */
export function newEvidence(
  role: ChainRole,
  { name, job, facts, signer, firstTree, isVerifiable }: CommitmentTerms,
  run: string,
  aligned: string | null,
): EvidenceFile {
  const salt = osRandom.fill(new Uint8Array(saltBytes));
  return {
    role,
    name,
    job,
    run,
    own: { commitment: toHex(commitmentTo(salt, facts)), certificate: signer.certificate.raw.toString("base64") },
    opened: isVerifiable ? { salt: toHex(salt), facts } : null,
    aligned,
    firstTree,
    peers: {},
  };
}
