/**
 * The two halves of a scheme that hides the members of nodes: each node has its own gradients, encrypted under its own
 * secret, with zeros for instances outside the node. A passive party sums over all instances, and sends the hints, with
 * which its answers are decrypted, once per attempt.
 *
 * All messages follow from the seeds of the job and what is computed: every attempt, and a replay, has the same bytes.
 */
import type { QuantisedGradients } from "../base/gradients/quantised-gradients.ts";
import type { GradientLayout } from "../codec/layout.ts";
import type { CandidatePlan } from "./candidates/candidate-plan.ts";
import type { HiddenTask } from "./candidates/node-task.ts";
import type { ActiveHalf, GradientChunk, PassiveHalf, PassiveTerms, SumsPiece } from "./scheme.ts";

/** The active party's half: it encrypts each node's gradients, and decrypts sums. */
export interface HiddenActive extends ActiveHalf {
  readonly membership: "hidden";
  /** Once per attempt: the same message for all passive parties, and in every attempt. */
  setUp(job: HiddenActiveJob): Promise<Uint8Array>;
  /** Receives the hints that decrypt a passive party's answers. @param candidateCount the number the party announced
   * */
  hints(peer: number, candidateCount: number, pieces: AsyncIterable<Uint8Array>): Promise<void>;
  /**
   * A node's gradients as chunks, each the same for every passive party; once per attempt. Two different plaintexts are
   * never encrypted under one secret. In a job with noise, roots with the same plaintexts are the same bytes in all
   * trees: a passive party recognises them, and gives them the same noise.
   */
  seal(node: HiddenNode): AsyncIterable<GradientChunk>;
  /** No more answers of this tree follow. */
  endTree(tree: number): void;
}

/** The terms of an attempt that both halves know. */
interface HiddenJob {
  /** The 16-byte job id. */
  readonly run: Uint8Array;
  /** The maximum number of nodes requested in all attempts at the job together. */
  readonly nodesMax: number;
  /** Pairs of g and h of a tree. */
  readonly outputsPerTree: number;
}

/** The terms of an attempt for the active half. */
export interface HiddenActiveJob extends HiddenJob {
  readonly layout: GradientLayout;
  readonly instanceCount: number;
  /** The passive halves' handshake messages, in their order. */
  readonly greetings: readonly Uint8Array[];
  /** The instances that are summed in any tree, ascending; null: all. */
  readonly rows: Uint32Array | null;
  /** The maximum number of candidates of a passive party, by its features and the agreed parameters. */
  readonly candidatesMax: number;
  /** Sums are hidden: passive parties mask them. */
  readonly masksSums: boolean;
}

/** A node whose members are hidden. */
export interface HiddenNode {
  readonly tree: number;
  readonly node: number;
  /** The outputs of the tree. */
  readonly outputs: readonly number[];
  /** The instances that are summed. */
  readonly sampled: Uint32Array;
  readonly gradients: QuantisedGradients;
}

/** A passive party's half: it sums each node's gradients over all instances. */
export interface HiddenPassive extends PassiveHalf {
  readonly membership: "hidden";
  /** For the handshake; the same in every attempt. */
  greeting(): Uint8Array;
  /** Once per attempt. A rejected set-up changes no state. @returns what must be equal in every attempt at the job */
  setUp(message: Uint8Array, job: HiddenPassiveJob): Promise<Uint8Array>;
  /** Once per attempt, after the set-up. @throws TandemError PROTOCOL_STATE the second time */
  hints(): AsyncIterable<Uint8Array>;
  /** Receives all gradients of a node; the node's id may be known only later. */
  take(messages: AsyncIterable<Uint8Array>): Promise<TakenNode>;
}

/** The terms of a job for a passive half. */
export interface HiddenPassiveJob extends PassiveTerms, HiddenJob {
  readonly summed: SummedRows;
}

/** The summed rows and candidates, the same in every tree. */
export interface SummedRows {
  /** Per feature the bin of each row. */
  readonly bins: readonly Uint16Array[];
  /** All candidates, in the job's order. */
  readonly plan: CandidatePlan;
  /** Indices of the candidates that are ever answered, ascending. */
  readonly offered: Uint32Array;
}

/** A node whose gradients have been received. */
export interface TakenNode {
  readonly ciphertexts: number;
  /** The sums of the node's candidates, with the task's noise; called once. */
  sums(task: HiddenTask, request: NodeRequest): AsyncIterable<SumsPiece>;
}

/** A request for a node. */
export interface NodeRequest {
  readonly tree: number;
  /** The tree's index within its round; with one tree per class, its class. */
  readonly treeOfRound: number;
  /** SHA-256 over all messages of the request. */
  readonly digest: Uint8Array;
}

/**
 * Replays a job for an auditor. The halves are the real ones: with the opened seeds, parameters, rows and job id they
 * send the bytes of the job. So every entry of a tree is compared by its digest, the set-up, the hints, the encrypted
 * gradients of each node and the sums of each answer among them; nothing is decrypted or stored for it.
 *
 * - `active` is for ActiveRole, whose `jobId` must be that of the job: the public rows depend on it.
 * - With hidden outcomes the entries `choices` and `outcome` contain fresh randomness of oblivious transfers and cannot
 *   be compared.
 */
export interface HiddenReplay {
  readonly active: HiddenActive;
  /** For PassiveRole. @param seed as in PassiveOptions, from the party's opening */
  passive(seed: Uint8Array): HiddenPassive;
}
