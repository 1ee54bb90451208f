/**
 * What a passive party keeps of a job so that it can be verified: its commitment, and the signed link of every tree.
 * Losing a connection and losing the process are the same to it: the next attempt reads what is stored.
 */
import { TandemError } from "../../base/error.ts";
import type { Storage } from "../../base/files/storage.ts";
import type { Facts } from "../../protocol/chain/commitment.ts";
import { isSame } from "../../protocol/chain/entries.ts";
import { firstLink } from "../../protocol/chain/pair-chain.ts";
import type { Introduction, OpenChain, PassivePairRecord, SignedTree } from "../../protocol/chain/record.ts";
import {
  type EvidenceFile,
  readEvidence,
  readTreeEvidence,
  signedPair,
  writeEvidence,
  writeTreeEvidence,
} from "../../store/evidence-files.ts";
import { bytesFrom, fromHex, textOf, toHex } from "../../store/stored-numbers.ts";
import type { PassiveCheckpointsOptions } from "./checkpoints.ts";
import { checkedCertificate, openChain, refuseOtherCommitment } from "../job-chain.ts";
import { type CommitmentTerms, newEvidence } from "../new-evidence.ts";

export interface PassiveEvidenceTerms extends CommitmentTerms {
  readonly jobId: Uint8Array;
  /** Tells this beginning of the job from others under its id. */
  readonly beginning: string;
  readonly isFinished: boolean;
  /** The active party's pinned name and fingerprint. */
  readonly peer: string;
  readonly fingerprint: string | undefined;
  /** The next tree. */
  readonly tree: number;
}

/** Writes into the job's folder, as long as this attempt lasts. */
export type KeepInFolder = (work: (folder: string, storage: Storage) => Promise<void>) => Promise<void>;

export class PassiveEvidence implements PassivePairRecord {
  readonly own: Introduction;
  readonly #terms: PassiveEvidenceTerms;
  readonly #keep: KeepInFolder;
  #file: EvidenceFile;
  #isStored: boolean;
  readonly #previous: Uint8Array | null;

  private constructor(
    terms: PassiveEvidenceTerms,
    keep: KeepInFolder,
    file: EvidenceFile,
    isStored: boolean,
    previous: Uint8Array | null,
  ) {
    this.#terms = terms;
    this.#keep = keep;
    this.#file = file;
    this.#isStored = isStored;
    this.#previous = previous;
    this.own = { commitment: fromHex(file.own.commitment), certificate: bytesFrom(file.own.certificate) };
  }

  /** Nothing is written yet. @throws TandemError CHECKPOINT if what was committed to has changed */
  static async open(
    terms: PassiveEvidenceTerms,
    { folder, storage, ownFiles }: PassiveCheckpointsOptions,
    keep: KeepInFolder,
  ): Promise<PassiveEvidence> {
    const stored = await ownFiles(() => readEvidence(folder, storage));
    const { name, job, tree, firstTree } = terms;
    const jobId = toHex(terms.jobId);
    const run = `${jobId}/${terms.beginning}`;
    const fits = stored !== null && (terms.isFinished ? stored.run.startsWith(`${jobId}/`) : stored.run === run);
    if (!fits) return new PassiveEvidence(terms, keep, newEvidence("passive", terms, run, null), false, null);
    const changed = terms.isFinished ? undefined : changedFact(stored, terms.facts);
    if (changed !== undefined)
      throw new TandemError(
        "CHECKPOINT",
        `${name} has begun job ${job}, and since then ${changed} has changed; put it back, or choose another name`,
      );
    const before = tree > firstTree ? await ownFiles(() => readTreeEvidence(folder, tree - 1, storage)) : null;
    const link = before?.run === stored.run ? before.pairs[terms.peer]?.link : undefined;
    return new PassiveEvidence(terms, keep, stored, true, link === undefined ? null : fromHex(link));
  }

  joined(theirs: Introduction): OpenChain {
    const { job, jobId, peer, fingerprint, signer, tree, firstTree, isFinished } = this.#terms;
    const certificate = checkedCertificate(peer, theirs, fingerprint);
    const known = this.#file.peers[peer];
    if (known !== undefined && !isSame(fromHex(known.commitment), theirs.commitment)) refuseOtherCommitment(peer);
    const { commitment } = theirs;
    const introduced = { commitment: toHex(commitment), certificate: textOf(theirs.certificate) };
    if (known === undefined) {
      this.#file = { ...this.#file, peers: { [peer]: introduced } };
      this.#isStored = false;
    }
    const beginning = firstLink({ jobId, active: commitment, passive: this.own.commitment });
    const previous = tree > firstTree ? this.#previous : beginning;
    if (previous === null && !isFinished)
      throw new TandemError("CHECKPOINT", `${this.#terms.name} has lost its record of tree ${tree - 1}`);
    return openChain({
      role: "passive",
      job,
      peer,
      certificate,
      key: signer.key,
      tree,
      previous: previous ?? beginning,
    });
  }

  /** The attempt is welcome. */
  async begin(): Promise<void> {
    if (this.#isStored) return;
    await this.#keep((folder, storage) => writeEvidence(folder, this.#file, storage));
    this.#isStored = true;
  }

  closed(signed: SignedTree): Promise<void> {
    const { peer } = this.#terms;
    const stored = { run: this.#file.run, tree: signed.tree, pairs: { [peer]: signedPair(signed) }, recipe: null };
    return this.#keep((folder, storage) => writeTreeEvidence(folder, stored, storage));
  }
}

/** The first fact that is not as it was when the party committed to it. */
function changedFact({ opened }: EvidenceFile, facts: Facts): string | undefined {
  if (opened === null) return undefined;
  const names = new Set([...Object.keys(opened.facts), ...Object.keys(facts)]);
  return [...names].find((name) => opened.facts[name] !== facts[name]);
}
