/**
 * What outlives an attempt of a round that may be redone: what was told of its nodes and, where answers have noise, the
 * gradients that they were computed from. A round is named by its first tree.
 */

/** How a node was parted: who of the parent is in the node. The sibling has the rest. */
export interface Parting {
  readonly parent: number;
  readonly node: number;
  readonly sibling: number;
  /** Digest of the people in the node. */
  readonly members: string;
  /** Interaction groups that were said to be open; left out: the job has none. */
  readonly open?: number | undefined;
}

/** One node's candidate sums, as they were sent. */
export interface StoredAnswer {
  readonly tree: number;
  readonly node: number;
  /** Null for the root. */
  readonly parting: Parting | null;
  /** PassiveHistograms, encoded. */
  readonly messages: readonly Uint8Array[];
}

export interface RoundStore {
  /** The answers of a round, in the order in which they were added, part by part from 0 on; null: no such part. */
  readAnswers(round: number, part: number): Promise<readonly StoredAnswer[] | null>;
  /** Adds some to a part. Settles when they outlive this process. */
  addAnswers(round: number, part: number, answers: readonly StoredAnswer[]): Promise<void>;
  /** Chunks of a round's gradients, from 0 on: what the scheme takes. */
  readGradients(round: number, index: number): Promise<Uint8Array | null>;
  writeGradients(round: number, index: number, message: Uint8Array): Promise<void>;
  /** It is never redone again. */
  forget(round: number): Promise<void>;
}
