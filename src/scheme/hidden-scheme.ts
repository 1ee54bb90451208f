/**
 * The two halves of a scheme that hides the members of nodes: each node has gradients of its own, encrypted anew, with
 * zeros for instances outside the node. A passive party sums over all instances, and sends once per attempt what its
 * answers are opened with: the hints.
 */
import type { QuantisedGradients } from "../base/gradients/quantised-gradients.ts";
import type { GradientLayout } from "../codec/layout.ts";
import type { CandidatePlan } from "./candidates/candidate-plan.ts";
import type { HiddenTask } from "./candidates/node-task.ts";
import type { ActiveHalf, GradientChunk, PassiveHalf, PassiveTerms, SumsPiece } from "./scheme.ts";

/** The active party's half: it encrypts each node's gradients, and opens sums. */
export interface HiddenActive extends ActiveHalf {
  readonly membership: "hidden";
  /** Once per attempt: the same message for all passive parties. */
  setUp(job: HiddenActiveJob): Promise<Uint8Array>;
  /** What a passive party's answers are opened with. @param candidateCount those that it has said to have */
  hints(peer: number, candidateCount: number, pieces: AsyncIterable<Uint8Array>): Promise<void>;
  /** A node's gradients as chunks, each the same for every passive party. Every call encrypts anew, once. */
  seal(node: HiddenNode): AsyncIterable<GradientChunk>;
  /** Another tree will follow: what depends on no gradient may be made while cores are idle. */
  expectTree(): void;
  /** No node of this tree is opened any more. */
  endTree(tree: number): void;
}

/** What both halves know of an attempt. */
interface HiddenJob {
  /** 16 bytes that name the job. */
  readonly run: Uint8Array;
  /** Nodes that may be asked for in all attempts at the job together. */
  readonly nodesMax: number;
  /** Pairs of g and h of a tree. */
  readonly outputsPerTree: number;
}

/** What an active half knows of an attempt. */
export interface HiddenActiveJob extends HiddenJob {
  readonly layout: GradientLayout;
  readonly instanceCount: number;
  /** Nodes that may be asked for in one tree. */
  readonly nodesPerTree: number;
  /** What the passive halves have said at the handshake, in their order. */
  readonly greetings: readonly Uint8Array[];
  /** The instances that are summed in any tree, ascending; null: all. */
  readonly rows: Uint32Array | null;
  /** Candidates that a passive party can have at the most, by its features and what was agreed. */
  readonly candidatesMax: number;
}

/** A node whose members are hidden. */
export interface HiddenNode {
  readonly tree: number;
  readonly node: number;
  /** Those that the tree learns. */
  readonly outputs: readonly number[];
  /** The instances that are summed. */
  readonly sampled: Uint32Array;
  readonly gradients: QuantisedGradients;
}

/** A passive party's half: it sums each node's gradients over all instances. */
export interface HiddenPassive extends PassiveHalf {
  readonly membership: "hidden";
  /** For the handshake; drawn once per attempt. */
  greeting(): Uint8Array;
  /** Once per attempt. What it refuses changes nothing. @returns what must be the same in every attempt at the job */
  setUp(message: Uint8Array, job: HiddenPassiveJob): Promise<Uint8Array>;
  /** Once per attempt, after the set-up. @throws TandemError PROTOCOL_STATE the second time */
  hints(): AsyncIterable<Uint8Array>;
  /** Takes a node's own gradients, all of them: which node it is may turn out later. */
  take(messages: AsyncIterable<Uint8Array>): Promise<TakenNode>;
}

/** What a passive half knows of a job. */
export interface HiddenPassiveJob extends PassiveTerms, HiddenJob {
  readonly summed: SummedRows;
}

/** What is summed: the same rows and candidates in every tree. */
export interface SummedRows {
  /** Per feature the bin of each row. */
  readonly bins: readonly Uint16Array[];
  /** All candidates, in the order of the job. */
  readonly plan: CandidatePlan;
  /** Places of those that are ever answered, ascending. */
  readonly offered: Uint32Array;
}

/** A node whose gradients are there. */
export interface TakenNode {
  readonly ciphertexts: number;
  /**
   * The sums of the node's candidates, with the task's noise; once.
   * @param treeOfRound the tree, counted within its round: of a tree per class its class
   */
  sums(task: HiddenTask, treeOfRound: number): AsyncIterable<SumsPiece>;
}
