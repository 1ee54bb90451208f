/**
 * What of an attempt at the active party depends on the training protocol: one implementation for members that are sent
 * (protocol/sent/active.ts), one for members that are hidden (protocol/hidden/active.ts). The role chooses one by its
 * scheme.
 */
import type { QuantisedGradients } from "../../base/gradients/quantised-gradients.ts";
import type { GradientLayout } from "../../codec/layout.ts";
import type { GrowingNode, NodePair } from "../../gbdt/tree/grow.ts";
import type { BestCandidate } from "../../scheme/candidates/best-candidates.ts";
import type { CandidateRows } from "../../scheme/candidates/candidate-rows.ts";
import type { ActiveNode } from "../../wire/generated/tandem/v1/tandem_pb.ts";
import type { AgreedParameters } from "../job-parameters.ts";
import type { BusyClock } from "./busy-clock.ts";
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
  /** The instances that are summed in any tree, ascending; null: all. */
  readonly rows: Uint32Array | null;
  /** Passive parties leave out the most frequent bin of each feature. */
  readonly skipBin: boolean;
}

export interface RoundTerms {
  readonly firstTree: number;
  /** Empty in a round that the active party grows alone. */
  readonly sessions: readonly PeerSession[];
  readonly layout: GradientLayout;
  readonly gradients: QuantisedGradients;
  /** The instances that the round learns from; null: all. */
  readonly sample: Uint32Array | null;
  /** Those that the first tree learns. */
  readonly outputs: readonly number[];
  /** The fraction of columns, where it is not the one that was agreed on; otherwise 0. */
  readonly columnRate: number;
  /** All trees of the round offer the same at their roots. */
  readonly offersSameRoot: boolean;
  readonly moreFollow: boolean;
  /** Settles when the round before is stored: no party hears of this one earlier. */
  readonly before: Promise<unknown>;
  readonly encrypting: BusyClock;
}

export interface ActiveRound {
  /** Settles when the round before is stored, and this one has begun. */
  readonly opened: Promise<unknown>;
  /** What trees of the round know of the root already, per session; filled by the first. Null: every tree asks. */
  readonly sharedRoot: CandidateRows[] | null;
  /** Every answer is counted: sums that can be derived are never asked for. */
  readonly derivesAlways: boolean;
  /** Asks a party about nodes as soon as it may be asked. @param session its place among the sessions */
  ask<T>(session: number, question: () => Promise<T>): Promise<T>;
  beginTree(tree: number, outputs: readonly number[]): TreeMembership;
  /** Settles when all parties have stored the tree. */
  finishTree(tree: number): Promise<unknown>;
}

export interface TreeMembership {
  question(asked: AskedNode): NodeQuestion;
  /** What a passive party's sums can be at all, where there is no noise. */
  sumsCheck(): SumsCheck;
  /**
   * Whether the people whom a party sends left and right add up to the sums that it had answered.
   * @param leftMembers bitmap over the node's instances
   * @param draws how many drawn values the noise of a candidate of the node is made of
   */
  addsUp(node: GrowingNode, leftMembers: Uint8Array, best: BestCandidate, draws: number): boolean;
  /** Per decision who goes left. */
  splits(session: PeerSession, decisions: readonly Decision[]): Promise<Map<number, SplitAnswer>>;
}

/** A node, and where it stands. */
export interface AskedNode {
  readonly node: GrowingNode;
  /** Null for the root. */
  readonly pair: NodePair | null;
}

export interface NodeQuestion {
  /**
   * What asks one party about the node. Called for all parties before the first of these is read.
   * @param open interaction groups that are open at the node, of those that the party has features in; undefined: the
   *   job has none, or the node is the root
   */
  messages(session: PeerSession, open: number | undefined): AsyncIterable<ActiveNode>;
}

export interface SumsCheck {
  /** @returns what is wrong with a node's candidates; null: nothing */
  fault(ofPeer: CandidateRows, node: GrowingNode): string | null;
}
