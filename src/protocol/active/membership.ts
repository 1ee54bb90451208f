/**
 * The part of an active party's attempt that depends on the training protocol: one implementation for members that are
 * sent (protocol/sent/active.ts), one for members that are hidden (protocol/hidden/active.ts). The role chooses one by
 * its scheme.
 */
import type { QuantisedGradients } from "../../base/gradients/quantised-gradients.ts";
import type { GradientLayout } from "../../codec/layout.ts";
import type { GrowingNode, NodePair } from "../../gbdt/tree/grow.ts";
import type { BestCandidate } from "../../scheme/candidates/best-candidates.ts";
import type { CandidateRows } from "../../scheme/candidates/candidate-rows.ts";
import type { ActiveNode } from "../../wire/generated/tandem/v1/tandem_pb.ts";
import type { AgreedParameters } from "../job-parameters.ts";
import type { BusyClock } from "./busy-clock.ts";
import type { NodeSums } from "./member-sums.ts";
import type { PeerSession } from "./peer-session.ts";
import type { Decision, SplitAnswer } from "./split-decision.ts";

export interface ActiveMembership {
  /** Sets up the scheme and all passive parties; once per attempt. */
  setUp(terms: SetUpTerms, sessions: readonly PeerSession[]): Promise<void>;
  /** Begins a round: trees that share their gradients. */
  beginRound(round: RoundTerms): ActiveRound;
}

export interface SetUpTerms {
  readonly agreed: AgreedParameters;
  readonly jobId: Uint8Array;
  readonly layout: GradientLayout;
  readonly instanceCount: number;
  /** The instances that are summed in some tree, ascending; null: all. */
  readonly rows: Uint32Array | null;
  /** Passive parties leave out the most frequent bin of each feature. */
  readonly skipBin: boolean;
}

export interface RoundTerms {
  readonly firstTree: number;
  readonly treeCount: number;
  /** Empty in a local round. */
  readonly sessions: readonly PeerSession[];
  readonly layout: GradientLayout;
  /** As they are sent. */
  readonly gradients: QuantisedGradients;
  /** The instances that the round is trained on; null: all. */
  readonly sample: Uint32Array | null;
  /** The outputs of the first tree. */
  readonly outputs: readonly number[];
  /** The column sampling rate where it differs from the agreed one; otherwise 0. */
  readonly columnRate: number;
  /** All trees of the round have the same candidates at their roots. */
  readonly offersSameRoot: boolean;
  readonly moreFollow: boolean;
  /** Settles when the previous round is stored: nothing of this round is sent earlier. */
  readonly before: Promise<unknown>;
  readonly encrypting: BusyClock;
}

export interface ActiveRound {
  /** Settles when the previous round is stored and this one has begun. */
  readonly opened: Promise<unknown>;
  /** Candidates of the root per session, filled by the first tree of the round. Null: every tree requests them. */
  readonly sharedRoot: CandidateRows[] | null;
  /** Answers are limited: sums that can be derived are never requested. */
  readonly derivesAlways: boolean;
  /** Requests nodes from a party as soon as the protocol allows. @param session its index among the sessions */
  ask<T>(session: number, question: () => Promise<T>): Promise<T>;
  beginTree(tree: number, outputs: readonly number[]): TreeMembership;
  /** Settles when all parties have stored the tree. */
  finishTree(tree: number): Promise<unknown>;
}

export interface TreeMembership {
  question(asked: AskedNode): NodeQuestion;
  /** Plausibility check of a passive party's sums, where there is no noise. */
  sumsCheck(): SumsCheck;
  /**
   * Whether the instances that a party sends left and right add up to the sums that it had answered.
   * @param leftMembers bitmap over the node's instances
   * @param draws number of noise draws in the sum of a candidate of the node
   */
  addsUp(node: NodeSums, leftMembers: Uint8Array, best: BestCandidate, draws: number): boolean;
  /** Per decision the members that go left. */
  splits(session: PeerSession, decisions: readonly Decision[]): Promise<Map<number, SplitAnswer>>;
}

/** A node and its position in the tree. */
export interface AskedNode {
  readonly node: GrowingNode;
  /** Null for the root. */
  readonly pair: NodePair | null;
}

export interface NodeQuestion {
  /**
   * The messages that request the node from one party. Called for all parties before the first of these is read.
   * @param open interaction groups allowed at the node, of those that the party has features in; undefined: the
   *   job has none, or the node is the root
   */
  messages(session: PeerSession, open: number | undefined): AsyncIterable<ActiveNode>;
}

export interface SumsCheck {
  /** @returns what is wrong with a node's candidates; null: nothing */
  fault(ofPeer: CandidateRows, node: GrowingNode): string | null;
}
