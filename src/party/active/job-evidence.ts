/**
 * What the active party keeps of a job so that it can be verified: its commitment, and of every tree the signed links
 * with all passive parties, the answers' ciphertexts and the nonces of its gradients.
 */
import { TandemError } from "../../base/error.ts";
import type { Storage } from "../../base/files/storage.ts";
import { isSame } from "../../protocol/chain/entries.ts";
import { firstLink } from "../../protocol/chain/pair-chain.ts";
import type { ActivePairRecord, Introduction, OpenChain } from "../../protocol/chain/record.ts";
import type { GradientRecipe } from "../../scheme/scheme.ts";
import {
  type EvidenceFile,
  type TreeEvidence,
  readEvidence,
  readTreeEvidence,
  signedPair,
  writeEvidence,
  writeTreeEvidence,
} from "../../store/evidence-files.ts";
import { bytesFrom, fromHex, textOf, toHex } from "../../store/stored-numbers.ts";
import { checkedCertificate, openChain, refuseOtherCommitment } from "../job-chain.ts";
import { type CommitmentTerms, newEvidence } from "../new-evidence.ts";

export interface ActiveEvidenceTerms extends CommitmentTerms {
  readonly jobId: Uint8Array;
  readonly passives: readonly { readonly name: string; readonly fingerprint: string }[];
  readonly aligned: Uint32Array | null;
  /** Ciphertexts can be compared later, so they are kept; default: they can. */
  readonly isReplayable?: boolean;
  readonly folder: string;
  readonly storage: Storage;
}

/** Ciphertexts that are kept of one tree and party; of what is beyond, the digests alone. */
const answerBytesMax = 2 << 20;

type Pairs = TreeEvidence["pairs"];

export class ActiveEvidence {
  readonly #terms: ActiveEvidenceTerms;
  #file: EvidenceFile;
  #isStored: boolean;
  /** Signed and not stored yet. */
  readonly #pending = new Map<number, Pairs>();

  private constructor(terms: ActiveEvidenceTerms, file: EvidenceFile, isStored: boolean) {
    this.#terms = terms;
    this.#file = file;
    this.#isStored = isStored;
  }

  static async open(terms: ActiveEvidenceTerms): Promise<ActiveEvidence> {
    const stored = await readEvidence(terms.folder, terms.storage);
    const run = toHex(terms.jobId);
    if (stored?.run === run) return new ActiveEvidence(terms, stored, true);
    const aligned = terms.aligned === null || !terms.isVerifiable ? null : textOf(terms.aligned);
    return new ActiveEvidence(terms, newEvidence("active", terms, run, aligned), false);
  }

  /**
   * Another attempt, whose next tree this is. The commitment is stored before anybody hears it.
   * @returns per passive party its record
   */
  async attempt(tree: number): Promise<(peer: string) => ActivePairRecord> {
    const { folder, storage, firstTree, name } = this.#terms;
    this.#pending.clear();
    await this.#storeFile();
    const before = tree > firstTree ? await readTreeEvidence(folder, tree - 1, storage) : null;
    return (peer) => {
      const link = before?.run === this.#file.run ? before.pairs[peer]?.link : undefined;
      if (tree > firstTree && link === undefined)
        throw new TandemError(
          "CHECKPOINT",
          `${name} has lost its record of tree ${tree - 1}; begin under another name`,
        );
      return this.#pair(peer, tree, link === undefined ? null : fromHex(link));
    };
  }

  /** Before the round itself is stored: whatever trees the party has, it has their links. */
  async store(recipe: GradientRecipe | null): Promise<void> {
    const { folder, storage, isVerifiable } = this.#terms;
    await this.#storeFile();
    let nonces = isVerifiable && recipe !== null ? stored(recipe) : null;
    for (const tree of [...this.#pending.keys()].sort((a, b) => a - b)) {
      const pairs = this.#pending.get(tree) ?? {};
      await writeTreeEvidence(folder, { run: this.#file.run, tree, pairs, recipe: nonces }, storage);
      this.#pending.delete(tree);
      nonces = null; // the round's other trees have the same gradients
    }
  }

  async #storeFile(): Promise<void> {
    if (this.#isStored) return;
    await writeEvidence(this.#terms.folder, this.#file, this.#terms.storage);
    this.#isStored = true;
  }

  #pair(peer: string, tree: number, previous: Uint8Array | null): ActivePairRecord {
    const { isVerifiable, isReplayable = true } = this.#terms;
    const keeps = isVerifiable && isReplayable;
    const answers = new Map<number, Record<string, string[]>>();
    let setUp = "";
    let bytes = 0;
    return {
      own: {
        commitment: fromHex(this.#file.own.commitment),
        certificate: bytesFrom(this.#file.own.certificate),
      },
      joined: (theirs) => this.#joined(peer, theirs, tree, previous),
      setUp: (message) => (setUp = textOf(message)),
      answered: (ofTree, node, pieces) => {
        const size = pieces.reduce((sum, { length }) => sum + length, 0);
        if (!keeps || bytes + size > answerBytesMax) return;
        bytes += size;
        const kept = answers.get(ofTree) ?? {};
        answers.set(ofTree, { ...kept, [node]: pieces.map(textOf) });
      },
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

  /** Before the first tree is finished a party may begin anew, and commit anew. */
  #joined(peer: string, theirs: Introduction, tree: number, previous: Uint8Array | null): OpenChain {
    const { job, jobId, passives, signer } = this.#terms;
    const certificate = checkedCertificate(peer, theirs, passives.find(({ name }) => name === peer)?.fingerprint);
    const known = this.#file.peers[peer];
    const isKnown = known !== undefined && isSame(fromHex(known.commitment), theirs.commitment);
    if (!isKnown && previous !== null) refuseOtherCommitment(peer);
    if (!isKnown) {
      const introduced = { commitment: toHex(theirs.commitment), certificate: textOf(theirs.certificate) };
      this.#file = { ...this.#file, peers: { ...this.#file.peers, [peer]: introduced } };
      this.#isStored = false;
    }
    const active = fromHex(this.#file.own.commitment);
    return openChain({
      role: "active",
      job,
      peer,
      certificate,
      key: signer.key,
      tree,
      previous: previous ?? firstLink({ jobId, active, passive: theirs.commitment }),
    });
  }
}

function stored({ secret, chunks }: GradientRecipe): NonNullable<TreeEvidence["recipe"]> {
  return { secret: textOf(secret), chunks: chunks.map((parts) => parts.map((part) => [...part])) };
}
