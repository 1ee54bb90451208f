/**
 * Evidence of the active party for the verification of a job: its commitment, and for every tree the signed links with
 * all passive parties and the answers' ciphertexts.
 */
import { TandemError } from "../../base/error.ts";
import type { Storage } from "../../base/files/storage.ts";
import { PlaintextJournal } from "../../protocol/active/plaintext-journal.ts";
import type { ActivePairRecord } from "../../protocol/chain/record.ts";
import { schemeNamed } from "../../scheme/registry.ts";
import {
  type TreeEvidence,
  readEvidence,
  readTreeEvidence,
  signedPair,
  writeEvidence,
  writeTreeEvidence,
} from "../../store/evidence-files.ts";
import { addPlaintexts, readPlaintexts } from "../../store/round-evidence.ts";
import { toBase64, toHex } from "../../store/stored-numbers.ts";
import { type CommitmentTerms, JobEvidence } from "../job-evidence.ts";
import { activeFacts } from "../job-facts.ts";
import { readSigner } from "../model/signer.ts";
import type { PreparedJob } from "./attempts.ts";
import type { BegunJob } from "./checkpoints.ts";

export interface ActiveEvidenceTerms extends CommitmentTerms {
  readonly passives: readonly { readonly name: string; readonly fingerprint: string }[];
  readonly aligned: Uint32Array | null;
  /** Ciphertexts can be compared later, so they are kept; default: they can. */
  readonly isReplayable?: boolean;
  readonly folder: string;
  readonly storage: Storage;
}

/** Opens the active party's commitment and chains. */
export async function openActiveEvidence(
  prepared: PreparedJob,
  begun: BegunJob,
  /** Folds are those of a cross-validation; 0: none. */
  { folds, ...place }: Pick<ActiveEvidenceTerms, "firstTree" | "folder" | "storage"> & { readonly folds: number },
): Promise<ActiveEvidence> {
  const { name, passives, job, output, tls } = prepared.config;
  return ActiveEvidence.open({
    ...place,
    name,
    passives,
    job: job.name,
    jobId: begun.jobId,
    aligned: begun.aligned,
    facts: activeFacts({ ...prepared, ...begun, name, passives, job, folds }),
    signer: await readSigner(tls, new Date()),
    isVerifiable: output.verifiable,
    isReplayable: schemeNamed(job.scheme).replay !== undefined,
  });
}

/**
 * Limit of ciphertext bytes kept per tree and party; beyond it only digests are kept. An auditor blames the active
 * party for missing answers below the limit.
 */
export const answerBytesMax = 64 << 20;

type Pairs = TreeEvidence["pairs"];

export class ActiveEvidence {
  readonly #terms: ActiveEvidenceTerms;
  readonly #evidence: JobEvidence;
  /** Signed and not stored yet. */
  readonly #pending = new Map<number, Pairs>();

  private constructor(terms: ActiveEvidenceTerms, evidence: JobEvidence) {
    this.#terms = terms;
    this.#evidence = evidence;
  }

  static async open(terms: ActiveEvidenceTerms): Promise<ActiveEvidence> {
    const stored = await readEvidence(terms.folder, terms.storage);
    const run = toHex(terms.jobId);
    const aligned = terms.aligned === null || !terms.isVerifiable ? null : toBase64(terms.aligned);
    const kept = stored?.run === run ? stored : null;
    return new ActiveEvidence(terms, new JobEvidence("active", terms, kept, run, aligned));
  }

  /**
   * Begins another attempt at this tree. The commitment is stored before it is sent.
   * @returns per passive party its record
   */
  async attempt(tree: number): Promise<(peer: string) => ActivePairRecord> {
    const { folder, storage, firstTree, name } = this.#terms;
    this.#pending.clear();
    await this.#storeFile();
    const before = tree > firstTree ? await readTreeEvidence(folder, tree - 1, storage) : null;
    return (peer) => {
      const link = this.#evidence.linkAfter(before, peer);
      if (tree > firstTree && link === null)
        throw new TandemError(
          "CHECKPOINT",
          `${name} has lost its record of tree ${tree - 1}; begin under another name`,
        );
      return this.#pair(peer, tree, link);
    };
  }

  /** What was encrypted in this run. @param tree the next one @throws TandemError CHECKPOINT if the record is lost */
  async journal(tree: number): Promise<PlaintextJournal> {
    const { folder, storage, firstTree, name } = this.#terms;
    const { run } = this.#evidence;
    const stored = await readPlaintexts(folder, run, storage);
    if (tree > firstTree && stored.length === 0)
      throw new TandemError("CHECKPOINT", `${name} has lost its record of gradient rounds; begin under another name`);
    return new PlaintextJournal(stored, (entries) => addPlaintexts(folder, run, entries, storage));
  }

  /** Stored before the round itself, so that every stored tree has its links. */
  async store(): Promise<void> {
    const { folder, storage } = this.#terms;
    await this.#storeFile();
    for (const tree of [...this.#pending.keys()].sort((a, b) => a - b)) {
      const pairs = this.#pending.get(tree) ?? {};
      await writeTreeEvidence(folder, { run: this.#evidence.run, tree, pairs }, storage);
      this.#pending.delete(tree);
    }
  }

  #storeFile(): Promise<void> {
    return this.#evidence.store((file) => writeEvidence(this.#terms.folder, file, this.#terms.storage));
  }

  #pair(peer: string, tree: number, previous: Uint8Array | null): ActivePairRecord {
    const { isVerifiable, isReplayable = true, passives } = this.#terms;
    const fingerprint = passives.find(({ name }) => name === peer)?.fingerprint;
    const keeps = isVerifiable && isReplayable;
    const answers = new Map<number, Record<string, string[]>>();
    let setUp = "";
    let bytes = 0;
    const keep: ActivePairRecord["keep"] = ({ kind, tree: ofTree, node }, pieces) => {
      if (kind === "set-up") setUp = toBase64(pieces[0]);
      if (ofTree === null) return;
      const size = pieces.reduce((sum, { length }) => sum + length, 0);
      if (bytes + size > answerBytesMax) return;
      bytes += size;
      const kept = answers.get(ofTree) ?? {};
      answers.set(ofTree, { ...kept, [node]: pieces.map(toBase64) });
    };
    return {
      own: this.#evidence.own,
      joined: (theirs) => this.#evidence.joined({ peer, theirs, fingerprint, tree, previous }),
      keep: keeps ? keep : null,
      closed: (closed) => {
        const kept = keeps ? { setUp, answers: answers.get(closed.tree) ?? {} } : {};
        this.#pending.set(closed.tree, {
          ...this.#pending.get(closed.tree),
          [peer]: { ...signedPair(closed), ...kept },
        });
        answers.delete(closed.tree);
        bytes = 0;
      },
    };
  }
}
