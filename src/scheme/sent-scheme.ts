/**
 * The two halves of a scheme whose gradients are encrypted once per round: passive parties are sent the members of each
 * node, and sum the ciphertexts that they hold.
 */
import type { QuantisedGradients } from "../base/gradients/quantised-gradients.ts";
import type { GradientLayout } from "../codec/layout.ts";
import type { BinColumns } from "./blocks/block.ts";
import type { SentTask } from "./candidates/node-task.ts";
import type { SentNodes } from "./candidates/sent-nodes.ts";
import type { ActiveHalf, GradientChunk, PassiveHalf, PassiveTerms, SumsPiece } from "./scheme.ts";

/** The active party's half: it encrypts a round's gradients, and decrypts sums. */
export interface SentActive extends ActiveHalf {
  readonly membership: "sent";
  /** Once per attempt: the same message for all passive parties. */
  setUp(job: { readonly layout: GradientLayout }): Promise<Uint8Array>;
  /**
   * The round's gradients as chunks, each the same for every passive party, and for every call with the same serial.
   * Chunks of bases come first, once per attempt.
   * @param sample the instances that the round is trained on; null: all
   * @param serial the number under which these plaintexts are encrypted: never used for others
   */
  gradients(
    layout: GradientLayout,
    gradients: QuantisedGradients,
    sample: Uint32Array | null,
    serial: number,
  ): AsyncIterable<GradientChunk>;
  /** Gradients of another round will follow: obfuscators may be precomputed while cores are idle. */
  expectRound?(layout: GradientLayout, instanceCount: number, serial: number): void;
}

/** A passive party's half: it holds a round's ciphertexts, and sums them. */
export interface SentPassive extends PassiveHalf {
  readonly membership: "sent";
  /** Once per attempt. A rejected set-up changes no state. @returns what must be equal in every attempt at the job */
  setUp(message: Uint8Array, job: SentPassiveJob): Promise<Uint8Array>;
  /** Once per round, before its chunks: the round's first tree, whose sample is known. */
  beginRound(tree: SentNodes): void;
  /** Begins another tree with the same gradients; left out: no action is needed. */
  nextTree?(tree: SentNodes): void;
  /** A chunk of bases, in the first round of an attempt; left out: the scheme has none. */
  bases?(message: Uint8Array): Promise<void>;
  /** @returns the number of ciphertexts received */
  gradients(message: Uint8Array): Promise<number>;
  /** Once per round, after the last chunk. @throws TandemError PROTOCOL_STATE if some are missing */
  endOfGradients(): void | Promise<void>;
  /**
   * The sums of a node's candidates, with the task's noise; suppressed candidates have an empty sum.
   * @param summed called at most once, when the next node may be requested: workers can sum it while this one is
   * finished
   */
  sums(task: SentTask, summed?: () => void): AsyncIterable<SumsPiece>;
  /** Once per round, when no more requests follow; left out: there is no memory to release. */
  endRound?(): void;
}

/** The terms of a job for a passive half. */
export interface SentPassiveJob extends PassiveTerms {
  readonly candidateCount: number;
  /** Of all instances of the job. */
  readonly columns: BinColumns;
  /** The maximum number of nodes requested in one tree, and of trees in one round. */
  readonly nodesAskedMax: number;
  readonly treesPerRound: number;
  /** A sum may be returned in its own ciphertext. */
  readonly allowsUnpacked: boolean;
}

/** The initial state of a replayed round. */
export interface ReplayedRound {
  readonly layout: GradientLayout;
  readonly gradients: QuantisedGradients;
  readonly sample: Uint32Array | null;
  readonly serial: number;
}

/** Both halves of a scheme without its cipher, and the comparison with the job's ciphertexts. */
export interface SchemeReplay {
  readonly active: SentActive & { readonly round: ReplayedRound | null };
  passive(): SentPassive;
  /** Whether a set-up message is what the active party had to send. */
  isSetUp(message: Uint8Array, layout: GradientLayout): Promise<boolean>;
  /** The messages of a round's gradients, computed again. @param serial the first tree of the first such round */
  remade(
    layout: GradientLayout,
    gradients: QuantisedGradients,
    sample: Uint32Array | null,
    serial: number,
  ): AsyncIterable<Uint8Array>;
  /** Bytes of a sum in an answer, at most. */
  readonly sumBytesMax: number;
  /** The sums in a piece of an answer of the current round. @param counts upper bounds; 0 where there is no sum */
  opened(layout: GradientLayout, message: Uint8Array, counts: readonly number[]): Promise<Float64Array>;
  close(): void;
}
