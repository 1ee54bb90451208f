/** What the owner of a role does for a chain: it commits, signs, checks signatures and stores. */
import type { ClosedGradients, Note } from "../../messages/call.ts";
import type { EntryKind } from "../../messages/table.ts";
import type { ClosedTree, PairChain } from "./pair-chain.ts";

/** What each party sends about itself at the handshake. */
export interface Introduction {
  readonly commitment: Uint8Array;
  /** DER. */
  readonly certificate: Uint8Array;
}

/** The chain of one attempt. */
export interface OpenChain {
  readonly chain: PairChain;
  /** With this party's key. */
  sign(closed: ClosedTree): Uint8Array;
  /** @throws TandemError PROTOCOL_STATE if the signature is not the other party's */
  verify(closed: ClosedTree, signature: Uint8Array): void;
  /** The active party signs gradients of the tree under way. */
  signGradients(closed: ClosedGradients): GradientsSignature;
  /**
   * @throws TandemError PROTOCOL_STATE if it is not the active party's, of gradients of another tree, or of other
   *   entries than this party has
   */
  verifyGradients(closed: ClosedGradients, signed: GradientsSignature): void;
  /** A passive party signs its answer about a node. */
  signAnswer(answer: NodeAnswer): Uint8Array;
  /** @throws TandemError PROTOCOL_STATE if the signature is not the passive party's */
  verifyAnswer(answer: NodeAnswer, signature: Uint8Array): void;
}

/** A passive party's answer about a node that has its own gradients. */
export interface NodeAnswer {
  readonly tree: number;
  readonly node: number;
  /** The entries of the tree that the active party signed with the request. */
  readonly before: Uint8Array;
  /** Those of the node: its request and its answer. */
  readonly entries: Uint8Array;
}

export interface SignedAnswer extends NodeAnswer {
  readonly signature: Uint8Array;
}

export interface GradientsSignature {
  readonly signature: Uint8Array;
  /** Of a node's gradients: the entries of the tree so far, which it covers. */
  readonly entries?: Uint8Array;
}

/** A tree that both sides have signed. */
export interface SignedTree extends ClosedTree {
  readonly own: Uint8Array;
  readonly theirs: Uint8Array;
}

interface PairRecord {
  readonly own: Introduction;
  /**
   * Called with the other party's introduction.
   * @throws TandemError HANDSHAKE_MISMATCH if it is not the pinned one, or has committed to something else before
   */
  joined(theirs: Introduction): OpenChain;
}

export interface ActivePairRecord extends PairRecord {
  /** Keeps the bytes that an auditor needs: the set-up, and the ciphertexts of answers. Null: nothing is kept. */
  readonly keep: ((note: Note<EntryKind>, pieces: readonly Uint8Array[]) => void) | null;
  /**
   * Settles when this party's signature is stored: it is not sent before.
   * @throws TandemError CHECKPOINT if it has signed something else for this tree
   */
  closing(tree: ClosedTree, own: Uint8Array): Promise<void>;
  /** Stored durably before the round is stored. */
  closed(tree: SignedTree): void;
  /** Stored durably before `answersStored` settles. */
  answered(answer: SignedAnswer): void;
  /** Settles when all answers of all parties so far are stored: no request that depends on them is sent before. */
  answersStored(): Promise<void>;
}

export interface PassivePairRecord extends PairRecord {
  /** Settles when it is stored. @throws TandemError PROTOCOL_STATE if it has signed something else for this tree */
  closed(tree: SignedTree): Promise<void>;
}
