/**
 * Evidence of a passive party for the verification of a job: its commitment, and the signed link of every tree. A lost
 * connection and a crash are handled alike: the next attempt reads what is stored.
 */
import { TandemError } from "../../base/error.ts";
import type { Storage } from "../../base/files/storage.ts";
import type { Facts } from "../../protocol/chain/commitment.ts";
import type { Introduction, OpenChain, PassivePairRecord, SignedTree } from "../../protocol/chain/record.ts";
import { isSame } from "../../protocol/chain/entries.ts";
import { type AgreedParameters, firstTreeOf } from "../../protocol/job-parameters.ts";
import { schemeNamed } from "../../scheme/registry.ts";
import {
  type EvidenceFile,
  readEvidence,
  readTreeEvidence,
  signedPair,
  writeEvidence,
  writeTreeEvidence,
} from "../../store/evidence-files.ts";
import { toHex } from "../../store/stored-numbers.ts";
import type { Signer } from "../../store/consent-file.ts";
import type { PassiveConfig } from "../config/config.ts";
import { type CommitmentTerms, isRepeatable, JobEvidence } from "../job-evidence.ts";
import { passiveFacts } from "../job-facts.ts";
import { readSigner } from "../model/signer.ts";
import { type AdmittedJob, committedTo } from "./admitted-job.ts";
import type { PassiveCheckpointsOptions } from "./checkpoints.ts";
import type { PassiveFiles } from "./passive-files.ts";

export interface PassiveEvidenceTerms extends CommitmentTerms {
  /** Distinguishes this run of the job from others under its id. */
  readonly beginning: string;
  readonly isFinished: boolean;
  /** The active party's pinned name and fingerprints. */
  readonly peer: string;
  readonly fingerprints: readonly string[];
  /** The next tree. */
  readonly tree: number;
  /** A tree that is redone has the same messages, byte for byte. */
  readonly isRepeatable: boolean;
}

/** What a party signs with, and whose signatures it accepts. */
export interface EvidenceCredentials {
  signer(): Promise<Signer>;
  pinsOf(active: string): readonly string[];
}

export function credentialsIn({ tls, active }: Pick<PassiveConfig, "tls" | "active">): EvidenceCredentials {
  return {
    signer: () => readSigner(tls, new Date()),
    pinsOf: (wanted) => active.find(({ name }) => name === wanted)?.fingerprint ?? [],
  };
}

/**
 * @throws TandemError CHECKPOINT if what was committed to has changed
 */
export async function openPassiveEvidence(
  files: PassiveFiles,
  job: AdmittedJob,
  credentials: EvidenceCredentials,
): Promise<PassiveEvidence> {
  const { config, hello, agreed, checkpoints, peer } = job;
  const firstTree = firstTreeOf(agreed);
  return PassiveEvidence.open(
    {
      name: config.name,
      job: agreed.job,
      jobId: hello.jobId,
      beginning: checkpoints.beginning,
      isFinished: checkpoints.isFinished,
      facts: passiveFacts(committedTo(job)),
      signer: await files.using(() => credentials.signer()),
      peer,
      fingerprints: credentials.pinsOf(peer),
      tree: Math.max(hello.trees, firstTree),
      firstTree,
      isVerifiable: config.output.verifiable && mayKeepSecrets(agreed),
      isRepeatable: isRepeatable(agreed.scheme, agreed.defences),
    },
    files.checkpointsOf(agreed.job),
    (work) => checkpoints.keep(work),
  );
}

/**
 * Whether the secrets of a job's noise may stay after it. Where `verify-job` does not replay answers they prove
 * nothing, and with the sums that the active party kept they would remove the noise.
 */
export function mayKeepSecrets({ scheme, defences }: Pick<AgreedParameters, "scheme" | "defences">): boolean {
  return defences.answer_noise === 0 || schemeNamed(scheme).replay !== undefined;
}

/** Writes into the job's folder while this attempt is current. */
export type KeepInFolder = (work: (folder: string, storage: Storage) => Promise<void>) => Promise<void>;

export class PassiveEvidence implements PassivePairRecord {
  readonly #terms: PassiveEvidenceTerms;
  readonly #keep: KeepInFolder;
  readonly #evidence: JobEvidence;
  readonly #previous: Uint8Array | null;

  private constructor(
    terms: PassiveEvidenceTerms,
    keep: KeepInFolder,
    evidence: JobEvidence,
    previous: Uint8Array | null,
  ) {
    this.#terms = terms;
    this.#keep = keep;
    this.#evidence = evidence;
    this.#previous = previous;
  }

  /** Does not write anything yet. @throws TandemError CHECKPOINT if what was committed to has changed */
  static async open(
    terms: PassiveEvidenceTerms,
    { folder, storage, ownFiles }: PassiveCheckpointsOptions,
    keep: KeepInFolder,
  ): Promise<PassiveEvidence> {
    const stored = await ownFiles(() => readEvidence(folder, storage));
    const { name, job, tree, firstTree, isFinished } = terms;
    const jobId = toHex(terms.jobId);
    const run = `${jobId}/${terms.beginning}`;
    const fits = stored !== null && (isFinished ? stored.run.startsWith(`${jobId}/`) : stored.run === run);
    const changed = fits && !isFinished ? changedFact(stored, terms.facts) : undefined;
    if (changed !== undefined)
      throw new TandemError(
        "CHECKPOINT",
        `${name} has begun job ${job}, and since then ${changed} has changed; put it back, or choose another name`,
      );
    const evidence = new JobEvidence("passive", terms, fits ? stored : null, run);
    const before = fits && tree > firstTree ? await ownFiles(() => readTreeEvidence(folder, tree - 1, storage)) : null;
    return new PassiveEvidence(terms, keep, evidence, evidence.linkAfter(before, terms.peer));
  }

  get own(): Introduction {
    return this.#evidence.own;
  }

  joined(theirs: Introduction): OpenChain {
    const { name, peer, fingerprints, tree, firstTree, isFinished } = this.#terms;
    const previous = this.#previous;
    const chain = this.#evidence.joined({ peer, theirs, fingerprints, tree, previous });
    if (tree > firstTree && previous === null && !isFinished)
      throw new TandemError("CHECKPOINT", `${name} has lost its record of tree ${tree - 1}`);
    return chain;
  }

  /** The attempt is accepted. */
  begin(): Promise<void> {
    return this.#evidence.begin((file) => this.#keep((folder, storage) => writeEvidence(folder, file, storage)));
  }

  closed(signed: SignedTree): Promise<void> {
    const { peer, isRepeatable } = this.#terms;
    const { run } = this.#evidence;
    const pairs = { [peer]: signedPair(signed) };
    return this.#keep(async (folder, storage) => {
      const before = await readTreeEvidence(folder, signed.tree, storage);
      const link = this.#evidence.linkAfter(before, peer);
      if (isRepeatable && link !== null && !isSame(link, signed.link))
        throw new TandemError("PROTOCOL_STATE", `tree ${signed.tree} was signed with other messages before`);
      await writeTreeEvidence(folder, { run, tree: signed.tree, pairs }, storage);
    });
  }
}

/** The first fact that differs from the commitment. */
function changedFact({ opened }: EvidenceFile, facts: Facts): string | undefined {
  if (opened === null) return undefined;
  const names = new Set([...Object.keys(opened.facts), ...Object.keys(facts)]);
  return [...names].find((name) => opened.facts[name] !== facts[name]);
}
