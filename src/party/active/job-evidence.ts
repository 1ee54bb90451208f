/**
 * Evidence of the active party for the verification of a job: its commitment, and for every tree the signed links with
 * all passive parties and the answers' ciphertexts.
 */
import { TandemError } from "../../base/error.ts";
import type { Storage } from "../../base/files/storage.ts";
import { Exclusive } from "../../base/scheduling/exclusive.ts";
import { ignoreUnhandled } from "../../base/scheduling/ignore-unhandled.ts";
import { PlaintextJournal } from "../../protocol/active/plaintext-journal.ts";
import type { ActivePairRecord } from "../../protocol/chain/record.ts";
import { schemeNamed } from "../../scheme/registry.ts";
import { allShortcuts } from "../../scheme/shortcuts.ts";
import {
  type TreeEvidence,
  readEvidence,
  readTreeEvidence,
  ownPair,
  writeEvidence,
  writeTreeEvidence,
} from "../../store/evidence-files.ts";
import { addAnswers, type KeptAnswer, keptAnswer, removeAnswers } from "../../store/answer-evidence.ts";
import { addPlaintexts, readPlaintexts } from "../../store/round-evidence.ts";
import { toBase64, toHex } from "../../store/stored-numbers.ts";
import type { Signer } from "../../store/consent-file.ts";
import { type CommitmentTerms, isRepeatable, JobEvidence } from "../job-evidence.ts";
import { activeFacts } from "../job-facts.ts";
import { currentPartners } from "../config/current-partners.ts";
import { readSigner } from "../model/signer.ts";
import type { PreparedJob } from "./attempts.ts";
import type { BegunJob } from "./checkpoints.ts";

type Partners = readonly { readonly name: string; readonly fingerprint: readonly string[] }[];

export interface ActiveEvidenceTerms extends CommitmentTerms {
  readonly passives: Partners;
  /** Key and pins at the beginning of an attempt; left out: those above. */
  readonly current?: () => Promise<{ readonly signer: Signer; readonly passives: Partners }>;
  readonly aligned: Uint32Array | null;
  /** All messages of a tree are the same bytes in every attempt; default: they are. */
  readonly isReplayable?: boolean;
  /** An auditor decrypts the answers, so they are kept; default: yes. */
  readonly keepsAnswers?: boolean;
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
    current: async () => ({
      signer: await readSigner(tls, new Date()),
      passives: await currentPartners(prepared.config, passives),
    }),
    // An auditor recomputes messages with all shortcuts, which only experiments switch off.
    isVerifiable: output.verifiable && Object.values(job.shortcuts ?? allShortcuts).every(Boolean),
    isReplayable: isRepeatable(job.scheme, job.privacy),
    keepsAnswers: schemeNamed(job.scheme).membership === "sent",
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
  /** Of the round under way, signed by this party at least. */
  readonly #pending = new Map<number, Pairs>();
  #partners: Partners;
  /** Those of them that have changed since they were written. */
  readonly #unwritten = new Set<number>();
  readonly #writes = new Exclusive();
  /** Signed answers that are not stored yet; those that come during a write are stored together. */
  #answers: KeptAnswer[] = [];
  readonly #answerWrites = new Exclusive();
  #answersStored: Promise<void> = Promise.resolve();
  /** What earlier attempts have signed of the trees that this one redoes. */
  #signed = new Map<number, Pairs>();

  private constructor(terms: ActiveEvidenceTerms, evidence: JobEvidence) {
    this.#terms = terms;
    this.#evidence = evidence;
    this.#partners = terms.passives;
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
    const { folder, storage, firstTree, name, current } = this.#terms;
    if (current !== undefined) {
      const { signer, passives } = await current();
      this.#evidence.signWith(signer);
      this.#partners = passives;
    }
    await this.#writes.run(() => this.#write()); // signatures that came before the connection was lost
    this.#pending.clear();
    this.#signed = await this.#signedFrom(tree);
    await this.#evidence.store((file) => writeEvidence(folder, file, storage));
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

  /** All parties have joined. */
  begin(): Promise<void> {
    const { folder, storage } = this.#terms;
    return this.#evidence.begin((file) => writeEvidence(folder, file, storage));
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
    await this.#writes.run(() => this.#write());
    for (const [tree, pairs] of this.#pending)
      if (!this.#unwritten.has(tree) && this.#isSigned(pairs)) this.#pending.delete(tree);
  }

  /** The job has succeeded: links cover all answers. */
  async finish(): Promise<void> {
    const { folder, storage } = this.#terms;
    await this.#answerWrites.idle();
    await removeAnswers(folder, storage);
  }

  #keepAnswer(answer: KeptAnswer): void {
    const { folder, storage } = this.#terms;
    this.#answers.push(answer);
    this.#answersStored = ignoreUnhandled(
      this.#answerWrites.run(async () => {
        const waiting = this.#answers;
        if (waiting.length === 0) return;
        this.#answers = [];
        try {
          await addAnswers(folder, this.#evidence.run, waiting, storage);
        } catch (error) {
          this.#answers.unshift(...waiting);
          throw error;
        }
      }),
    );
  }

  /** By all parties. */
  #isSigned(pairs: Pairs): boolean {
    return this.#terms.passives.every(({ name }) => pairs[name]?.theirs !== undefined);
  }

  async #write(): Promise<void> {
    const { folder, storage } = this.#terms;
    for (const tree of [...this.#unwritten].sort((a, b) => a - b)) {
      this.#unwritten.delete(tree);
      try {
        await writeTreeEvidence(folder, { run: this.#evidence.run, tree, pairs: this.#pairsOf(tree) }, storage);
      } catch (error) {
        this.#unwritten.add(tree);
        throw error;
      }
    }
  }

  /** What earlier attempts have signed stays until it is signed again. */
  #pairsOf(tree: number): Pairs {
    const [before, now] = [this.#signed.get(tree) ?? {}, this.#pending.get(tree) ?? {}];
    const merged = { ...before, ...now };
    for (const [peer, pair] of Object.entries(now)) {
      const { link, theirs } = before[peer] ?? {};
      if (theirs !== undefined && link === pair.link) merged[peer] = { theirs, ...pair };
    }
    return merged;
  }

  /** At most a round: the active party stores a round when all of its trees are signed. */
  async #signedFrom(first: number): Promise<Map<number, Pairs>> {
    const { folder, storage } = this.#terms;
    const signed = new Map<number, Pairs>();
    for (let tree = first; ; tree++) {
      const stored = await readTreeEvidence(folder, tree, storage);
      if (stored === null || stored.run !== this.#evidence.run) return signed;
      signed.set(tree, stored.pairs);
    }
  }

  #add(tree: number, peer: string, pair: Pairs[string]): void {
    this.#pending.set(tree, { ...this.#pending.get(tree), [peer]: pair });
    this.#unwritten.add(tree);
  }

  #pair(peer: string, tree: number, previous: Uint8Array | null): ActivePairRecord {
    const { isVerifiable, isReplayable = true, keepsAnswers = true } = this.#terms;
    const fingerprints = this.#partners.find(({ name }) => name === peer)?.fingerprint ?? [];
    const keeps = isVerifiable && isReplayable && keepsAnswers;
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
      joined: (theirs) => this.#evidence.joined({ peer, theirs, fingerprints, tree, previous }),
      keep: keeps ? keep : null,
      closing: (closing, own) => {
        const before = this.#signed.get(closing.tree)?.[peer]?.link;
        if (isReplayable && before !== undefined && before !== toHex(closing.link))
          throw new TandemError(
            "CHECKPOINT",
            `tree ${closing.tree} differs from the one that was signed in an earlier attempt. ` +
              "The data, the program or a party's answers have changed: begin anew under another name",
          );
        const kept = keeps ? { setUp, answers: answers.get(closing.tree) ?? {} } : {};
        answers.delete(closing.tree);
        bytes = 0;
        this.#add(closing.tree, peer, { ...ownPair(closing, own), ...kept });
        return this.#writes.run(() => this.#write());
      },
      closed: ({ tree: closed, theirs }) => {
        const own = this.#pending.get(closed)?.[peer];
        if (own !== undefined) this.#add(closed, peer, { ...own, theirs: toBase64(theirs) });
      },
      answered: (answer) => {
        if (isVerifiable) this.#keepAnswer(keptAnswer(peer, answer));
      },
      answersStored: () => this.#answersStored,
    };
  }
}
