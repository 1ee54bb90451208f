/**
 * Data of rounds for later attempts: the digests of all gradients, and the answers for the nodes of the latest round,
 * which may be redone. A round is identified by its first tree.
 */
import type { ClosedGradients } from "../../messages/call.ts";

/** Gradients that were received, with the active party's signature. */
export interface SignedGradients extends ClosedGradients {
  readonly signature: Uint8Array;
  /** Of a node's: the entries of its tree that the signature covers, encoded. */
  readonly entries?: Uint8Array;
}

/** How a parent was split: the members of the node. The sibling has the other members. */
export interface NodeSplit {
  readonly parent: number;
  readonly node: number;
  readonly sibling: number;
  /** Digest of the node's members. */
  readonly members: string;
  /** Interaction groups allowed at the node, as sent; left out: the job has none. */
  readonly open?: number | undefined;
}

/** One node's candidate sums, as they were sent. */
export interface StoredAnswer {
  readonly tree: number;
  readonly node: number;
  /** Null for the root. */
  readonly parting: NodeSplit | null;
  /** PassiveHistograms, encoded. */
  readonly messages: readonly Uint8Array[];
}

export interface RoundStore {
  /** The answers of a round in the order they were added, by part from 0; null: no such part. */
  readAnswers(round: number, part: number): Promise<readonly StoredAnswer[] | null>;
  /** Adds answers to a part durably. */
  addAnswers(round: number, part: number, answers: readonly StoredAnswer[]): Promise<void>;
  /** Those of all rounds of the job. */
  readGradients(): Promise<readonly SignedGradients[]>;
  /** Settles when they are stored durably. */
  addGradients(gradients: readonly SignedGradients[]): Promise<void>;
  /** Keeps the signature of gradients that were refused: it proves that the active party has sent two. */
  refuseGradients(gradients: SignedGradients): Promise<void>;
  /** Deletes the answers of a round that will not be redone. */
  forget(round: number): Promise<void>;
}
