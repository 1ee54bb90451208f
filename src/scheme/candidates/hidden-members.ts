/**
 * What a passive party knows of nodes where nobody tells it who is in them: their numbers, and no more. Every instance
 * is a member of every node, as far as it can tell.
 */

export interface HiddenMembers {
  /** Requests say which node is whose child: what is offered there depends on it. */
  readonly sendsTreeShape: boolean;
  /** Per feature and candidate 1 if it is ever offered; null: all are. */
  readonly offered: readonly Uint8Array[] | null;
  /** Tells the noise of this try at a round from that of any other. */
  readonly serial: () => number;
}
