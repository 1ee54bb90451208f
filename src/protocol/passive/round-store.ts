/**
 * Data of a round that may be redone in a later attempt: the answers for its nodes and, with answer noise, the
 * gradients they were computed from. A round is identified by its first tree.
 */

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
  /** Chunks of a round's gradients, numbered from 0. */
  readGradients(round: number, index: number): Promise<Uint8Array | null>;
  writeGradients(round: number, index: number, message: Uint8Array): Promise<void>;
  /** Deletes the data of a round that will not be redone. */
  forget(round: number): Promise<void>;
}
