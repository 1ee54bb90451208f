/**
 * Evidence of a party of either role for the verification of a job: its commitment, those of the other parties, and its
 * chains with them. What is kept of each tree depends on the role.
 */
import { osRandom } from "../base/random.ts";
import { commitmentTo, type Facts, saltBytes } from "../protocol/chain/commitment.ts";
import { isSame } from "../protocol/chain/entries.ts";
import { firstLink } from "../protocol/chain/pair-chain.ts";
import type { Introduction, OpenChain } from "../protocol/chain/record.ts";
import type { Defences } from "../privacy/defences/defences.ts";
import { schemeNamed } from "../scheme/registry.ts";
import type { Signer } from "../store/consent-file.ts";
import type { EvidenceFile, StoredIntroduction, TreeEvidence } from "../store/evidence-files.ts";
import { bytesFrom, fromHex, toBase64, toHex } from "../store/stored-numbers.ts";
import { type ChainRole, checkedCertificate, openChain, refuseOtherCommitment } from "./job-chain.ts";

export interface CommitmentTerms {
  readonly name: string;
  readonly job: string;
  readonly jobId: Uint8Array;
  readonly facts: Facts;
  readonly signer: Signer;
  /** The first tree that passive parties take part in. */
  readonly firstTree: number;
  /** Whether the commitment can be opened later. */
  readonly isVerifiable: boolean;
}

/** Another party as it joins an attempt. */
export interface JoiningParty {
  readonly peer: string;
  readonly theirs: Introduction;
  /** Of the certificates that are pinned. */
  readonly fingerprints: readonly string[];
  /** The next tree. */
  readonly tree: number;
  /** The link before it; null: the chain begins. */
  readonly previous: Uint8Array | null;
}

/** Whether a tree that is redone has the same messages: oblivious transfers draw new keys in every attempt. */
export function isRepeatable(
  scheme: string,
  { hidden_outcomes, hidden_sums }: Pick<Defences, "hidden_outcomes" | "hidden_sums">,
): boolean {
  const { membership, replay } = schemeNamed(scheme);
  return replay !== undefined && !hidden_sums && !(membership === "hidden" && hidden_outcomes);
}

export class JobEvidence {
  readonly #role: ChainRole;
  readonly #terms: CommitmentTerms;
  #signer: Signer;
  #file: EvidenceFile;
  #isStored: boolean;
  /** Parties whose commitments are new in this attempt. */
  #joining: EvidenceFile["peers"] = {};

  /**
   * @param stored what an earlier attempt of the same run has stored; null: nothing
   * @param run distinguishes this run of the job from others
   * @param aligned which rows take part, where that is kept
   */
  constructor(
    role: ChainRole,
    terms: CommitmentTerms,
    stored: EvidenceFile | null,
    run: string,
    aligned: string | null = null,
  ) {
    this.#role = role;
    this.#terms = terms;
    this.#file = stored ?? freshFile(role, terms, run, aligned);
    this.#isStored = stored !== null;
    this.#signer = terms.signer;
    this.signWith(terms.signer);
  }

  /** What follows is signed with this key: the party may renew its certificate during a job. */
  signWith(signer: Signer): void {
    this.#signer = signer;
    const own = withCertificate(this.#file.own, signer.certificate.raw);
    if (own === this.#file.own) return;
    this.#file = { ...this.#file, own };
    this.#isStored = false;
  }

  get run(): string {
    return this.#file.run;
  }

  get own(): Introduction {
    const { commitment, certificate } = this.#file.own;
    return { commitment: fromHex(commitment), certificate: bytesFrom(certificate) };
  }

  /** Stores this party's own commitment, before it is sent. */
  async store(write: (file: EvidenceFile) => Promise<void>): Promise<void> {
    if (this.#isStored) return;
    await write(this.#file);
    this.#isStored = true;
  }

  /** Stores the commitments of all parties that have joined, before anything is signed. */
  async begin(write: (file: EvidenceFile) => Promise<void>): Promise<void> {
    if (Object.keys(this.#joining).length > 0) {
      this.#file = { ...this.#file, peers: { ...this.#file.peers, ...this.#joining } };
      this.#isStored = false;
      this.#joining = {};
    }
    await this.store(write);
  }

  /** The link from which the chain with a party continues after a tree; null: none is stored. */
  linkAfter(tree: TreeEvidence | null, peer: string): Uint8Array | null {
    const link = tree?.run === this.run ? tree.pairs[peer]?.link : undefined;
    return link === undefined ? null : fromHex(link);
  }

  /**
   * Until all parties have joined one of them may start over with a new commitment; from then on its own is in what is
   * signed.
   * @throws TandemError HANDSHAKE_MISMATCH if the party's certificate is not the pinned one, or its commitment has
   * changed
   */
  joined({ peer, theirs, fingerprints, tree, previous }: JoiningParty): OpenChain {
    const { job, jobId } = this.#terms;
    const certificate = checkedCertificate(peer, theirs, fingerprints);
    const known = this.#file.peers[peer];
    const isKnown = known !== undefined && isSame(fromHex(known.commitment), theirs.commitment);
    if (!isKnown && (known !== undefined || previous !== null)) refuseOtherCommitment(peer);
    const introduced = isKnown
      ? withCertificate(known, theirs.certificate)
      : { commitment: toHex(theirs.commitment), certificate: toBase64(theirs.certificate) };
    if (introduced !== known) this.#joining = { ...this.#joining, [peer]: introduced };
    const own = this.own.commitment;
    const [active, passive] = this.#role === "active" ? [own, theirs.commitment] : [theirs.commitment, own];
    return openChain({
      role: this.#role,
      job,
      peer,
      certificate,
      key: this.#signer.key,
      tree,
      previous: previous ?? firstLink({ jobId, active, passive }),
    });
  }
}

/** The same object if the party still has this certificate. */
function withCertificate(known: StoredIntroduction, der: Uint8Array): StoredIntroduction {
  const certificate = toBase64(der);
  if (certificate === known.certificate) return known;
  const before = [...(known.earlier ?? []), known.certificate];
  return { ...known, certificate, earlier: before.filter((each) => each !== certificate) };
}

function freshFile(
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
